#!/usr/bin/env bash
# Formatting as .clang-format has it, and a short list of clang-tidy checks as errors.
#   tools/lint.sh          check every source file, a room's files compiled as a few
#   tools/lint.sh --apart  the same, each file by itself: slower, and it finds a missing #include
#   tools/lint.sh --fix    reformat
set -euo pipefail
cd "$(dirname "$0")/.."
format=$(command -v clang-format-14 || command -v clang-format)
tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
mapfile -t files < <(git ls-files 'src/*.h' 'src/*.cc' 'fuzz/*.cc' 'bench/*.cc' 'tests/*.cc' 'pocket/*.cc')

if [ "${1:-}" = "--fix" ]; then
  "$format" -i "${files[@]}"
  exit 0
fi
"$format" --dry-run --Werror "${files[@]}"
echo "lint: ${#files[@]} files are formatted"

unity=ON
if [ "${1:-}" = "--apart" ]; then unity=OFF; fi
cmake --preset clang -DUNMASK_UNITY=$unity >/dev/null
mapfile -t sources < <(python3 tools/compiled_sources.py build/clang/compile_commands.json)
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -n 1 "$tidy" -p build/clang --quiet --warnings-as-errors='*' 2>/dev/null
echo "lint: clang-tidy is content with the sources of the program, compiled as ${#sources[@]}"
