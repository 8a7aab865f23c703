#!/usr/bin/env bash
# The main job on data made here: plants two logs with a known truth, audits them, inspects a small log.
#   tools/demo.sh UNMASK_BINARY FOLDER
set -euo pipefail
unmask=$1
folder=$2
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$folder"
step() { printf '\n\033[1m$ unmask %s\033[0m\n' "$*"; "$unmask" "$@"; }
[ -t 1 ] || step() { printf '\n$ unmask %s\n' "$*"; "$unmask" "$@"; }

echo "No model runs here: the two logs below are planted, with a truth that is known: the damaged cell of"
echo "'Flat Score, Amplified Failures' (arXiv 2607.27275), 114 tasks x 4 trials an arm."
step plant --preset damaged --exact --out "$folder"
step audit "$folder/baseline.json" "$folder/candidate.json" --json "$folder/audit.json"
echo
echo "The same questions of one small log:"
step inspect "$here/tests/data/small_tau2.json"
echo
echo "Your own logs: build/release/unmask audit BASELINE CANDIDATE   (the JSON of this run: $folder/audit.json)"
