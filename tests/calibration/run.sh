#!/usr/bin/env bash
# Runs the calibration of the whole instrument and keeps its tables in tests/calibration/results/.
#   tests/calibration/run.sh BUILD_DIR [DATASETS] [PAIRS] [DRAWS]
# About an hour on two cores with the defaults.
set -euo pipefail
build=$1
datasets=${2:-4000}
pairs=${3:-1000}
draws=${4:-400}
results=$(cd "$(dirname "$0")" && pwd)/results
mkdir -p "$results"
keep() {
  local file=$results/$1
  shift
  "$build/pipeline_calibration" "$@" >"$file.new"
  mv "$file.new" "$file"
  echo "calibration: $file"
}
keep cells.md cells "$draws"
keep aa.md aa "$pairs"
keep coverage_114.md coverage "$datasets" 114
keep coverage_50.md coverage "$((datasets / 4))" 50
keep coverage_20.md coverage "$((datasets / 4))" 20
