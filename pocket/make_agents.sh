#!/usr/bin/env bash
# Trains the pocket agents from nothing and writes what is committed beside this file: vocabulary, calibration text, each agent
# with PyTorch's own numbers for it. On one core the dense agent took 21 minutes and the mixture about 30 on a busy machine.
#   pocket/make_agents.sh GENERATOR [WORK_FOLDER]      GENERATOR: build/release/pocket-episodes
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
generator=$(realpath "${1:?usage: make_agents.sh GENERATOR [WORK_FOLDER]}")
work=${2:-pocket-training}
python=/usr/bin/python3
# Without libopenblas0-pthread PyTorch's matrix products are thirty times slower.
for package in python3-torch python3-jinja2 libopenblas0-pthread; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -q '^installed$' ||
    { echo "pocket: apt-get install python3-torch python3-jinja2 libopenblas0-pthread" >&2; exit 2; }
done
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
$python "$here/vocabulary.py" "$generator"
$python "$here/calibration.py" "$generator"
train() { # NAME OPTIONS...
  local name=$1
  shift
  $python "$here/train.py" --generator "$generator" --out "$work/$name" "$@"
  $python "$here/export.py" "$work/$name/final.pt" "$here/pocket-$name.gguf" --name "pocket-$name"
  $python "$here/reference.py" "$work/$name/final.pt" "$generator" "$here/pocket-$name.reference.json"
}
train dense --seed 5
train moe --seed 5 --experts 4 --feed-forward 256
