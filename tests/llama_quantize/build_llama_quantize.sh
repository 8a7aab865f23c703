#!/usr/bin/env bash
# Builds llama.cpp's own llama-quantize once, for the test labelled slow: its source is that of deps/llama, linked with the
# prebuilt libraries of the same release.
#   tests/llama_quantize/build_llama_quantize.sh FOLDER     leaves FOLDER/llama-quantize
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: build_llama_quantize.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ -x "$folder/llama-quantize" ] && exit 0
"$here/../../deps/llama.sh"
llama=$(cd "$here/../../deps/llama" && pwd -P)
${CXX:-c++} -std=c++17 -O1 -w -I"$llama/source/include" -I"$llama/source/ggml/include" -I"$llama/source/common" \
  "$llama/source/tools/quantize/quantize.cpp" "$llama/source/tools/quantize/main.cpp" \
  -o "$folder/llama-quantize.tmp" "$llama"/lib/libllama-common.so "$llama"/lib/libllama.v*.so "$llama"/lib/libggml.v*.so \
  "$llama"/lib/libggml-base.so -Wl,-rpath,"$llama/lib" -pthread
mv "$folder/llama-quantize.tmp" "$folder/llama-quantize"
