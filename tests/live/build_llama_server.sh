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
for tool in npm git cmake ninja; do
  if ! command -v "$tool" >/dev/null; then
    echo "live: $tool is needed to build llama.cpp's server" >&2
    exit 2
  fi
done

# "NAME VERSION INTEGRITY" a line: the tarball's bytes must have that sha512.
cd "$folder"
while read -r name version integrity; do
  tarball=$(npm pack --silent "$name@$version")
  found=sha512-$(openssl dgst -sha512 -binary "$tarball" | base64 -w0)
  if [ "$found" != "$integrity" ]; then
    echo "live: $name@$version is not the package that was locked: $found" >&2
    exit 2
  fi
  mkdir -p "package/$name"
  tar xzf "$tarball" -C "package/$name" --strip-components=1
  rm "$tarball"
done <"$here/llama.lock"
[ -d source ] || git clone -q package/node-llama-cpp/llama/gitRelease.bundle source
cmake -S "$here/llama_server" -B build -G Ninja -DLLAMA_SOURCE="$folder/source" \
  -DLLAMA_LIBRARIES="$folder/package/@node-llama-cpp/linux-x64/bins/linux-x64" >/dev/null
cmake --build build --target llama-server
# The server looks for its processor libraries beside itself.
ln -sf package/@node-llama-cpp/linux-x64/bins/linux-x64/*.so .
cp build/llama-server llama-server
echo "live: built $folder/llama-server"
