#!/usr/bin/env bash
# Makes docs/gallery/*.png anew: pages of planted logs, as headless Chromium shows them.
#   tools/gallery.sh UNMASK [FOLDER]     FOLDER instead of docs/gallery
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
unmask=$(realpath "$1")
gallery=$(realpath "${2:-$root/docs/gallery}")
chromium=$(command -v chromium || command -v google-chrome) || { echo "gallery: chromium is needed (make browser installs it)" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

picture() {  # NAME PAGE WIDTH HEIGHT [FLAG...]
  local name=$1 page=$2 size=$3,$4
  shift 4
  "$chromium" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
    --virtual-time-budget=20000 --window-size="$size" --screenshot="$gallery/$name.png" "$@" "file://$work/$page" >/dev/null 2>&1
  echo "gallery: $name.png $(stat -c %s "$gallery/$name.png") bytes"
}

"$unmask" plant -q --preset damaged --exact -o damaged >/dev/null
"$unmask" audit -q damaged_baseline.json damaged_candidate.json --label BF16 --label INT4 --html damaged.html >/dev/null
"$unmask" inspect -q damaged_baseline.json --label BF16 --html inspect.html >/dev/null
"$unmask" plant -q --preset clean -o clean >/dev/null
"$unmask" audit -q clean_baseline.json clean_candidate.json --label BF16 --label INT4 --html clean.html >/dev/null
"$unmask" plant -q --preset clean --tool-name-rate 0 --schema-rate 0 --entity-rate 0 --rejected-rate 0 --malformed-rate 0 \
  --user-failure-rate 0 -o spotless >/dev/null
"$unmask" inspect -q spotless_baseline.json --label BF16 --html spotless.html >/dev/null
PYTHONPATH=$root/tests/html python3 -c 'import pages, pathlib, sys; print(pages.grid(sys.argv[1], pathlib.Path("."), tasks=114))' "$unmask" >/dev/null
"$unmask" audit -q --grid grid --html grid.html >/dev/null

picture damaged damaged.html 1000 1786
picture damaged-dark damaged.html 1000 1786 --blink-settings=preferredColorScheme=0
picture clean clean.html 1000 1270
picture grid grid.html 1000 1190
picture inspect inspect.html 1000 1130
picture inspect-no-failures spotless.html 1000 1440
