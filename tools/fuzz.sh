#!/usr/bin/env bash
# Runs every libFuzzer target for SECONDS, two at a time, starting from its committed corpus.
#   tools/fuzz.sh BUILD_DIR SECONDS [TARGET...]
# New inputs go to BUILD_DIR/corpus/<target>; findings to BUILD_DIR/findings and stop that target.
set -euo pipefail
build=$1
seconds=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$build/corpus" "$build/findings"
if [ $# -gt 0 ]; then targets=("$@"); else mapfile -t targets < <(cd "$build" && ls | grep '^fuzz_' | grep -v '\.'); fi
run_one() {
  local target=$1 reader=${1#fuzz_}
  mkdir -p "$build/corpus/$reader"
  if "$build/$target" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=30 -max_len=65536 -print_final_stats=1 \
      -artifact_prefix="$build/findings/$reader-" "$build/corpus/$reader" "$root/fuzz/corpus/$reader" \
      >"$build/$target.log" 2>&1; then
    echo "$target: $(grep -o 'stat::number_of_executed_units: *[0-9]*' "$build/$target.log" | grep -o '[0-9]*$') runs, no finding"
  else
    echo "$target: FINDING, see $build/$target.log"
    return 1
  fi
}
export -f run_one
export build seconds root
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'run_one {}'
