#!/usr/bin/env bash
# The main job on what the program brings along: the experiment with a small agent of our own; where there are no libraries of
# llama.cpp for this machine, two planted logs with a known truth.
#   tools/demo.sh UNMASK_BINARY FOLDER
set -euo pipefail
unmask=$1
folder=$2
if [ "$(uname -sm)" = "Linux x86_64" ]; then
  exec "$unmask" demo -o "$folder"
fi
step() { printf '\n$ unmask %s\n' "$*"; "$unmask" "$@"; }
echo "No model runs here, for the embedded engine needs Linux on x86_64: the two logs below are planted, with a truth that is known."
mkdir -p "$folder"
step plant --preset damaged --exact --out "$folder"
step audit "$folder/baseline.json" "$folder/candidate.json" --json "$folder/audit.json"
