#!/usr/bin/env bash
# Builds llama.cpp's server once, for the tests labelled live: its source is the git bundle in the npm package node-llama-cpp,
# linked with the prebuilt libraries of the same release. Minutes of compiling; nothing is installed, no package script runs.
#   tests/live/build_llama_server.sh FOLDER     leaves FOLDER/llama-server
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: build_llama_server.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ -x "$folder/llama-server" ]; then
  echo "live: $folder/llama-server is built"
  exit 0
fi
if [ "$(uname -m)" != x86_64 ]; then
  echo "live: the prebuilt libraries are for x86_64; on $(uname -m) build llama.cpp's server yourself" >&2
  exit 2
fi
for tool in git cmake ninja; do
  if ! command -v "$tool" >/dev/null; then
    echo "live: $tool is needed to build llama.cpp's server" >&2
    exit 2
  fi
done

"$here/../../deps/llama.sh" "$folder/llama"
cd "$folder"
cmake -S "$here/llama_server" -B build -G Ninja -DLLAMA_SOURCE="$folder/llama/source" \
  -DLLAMA_LIBRARIES="$folder/llama/lib" >/dev/null
cmake --build build --target llama-server
# The server looks for its processor libraries beside itself.
ln -sf llama/lib/*.so .
cp build/llama-server llama-server
echo "live: built $folder/llama-server"
