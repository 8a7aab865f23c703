#!/usr/bin/env bash
# Brings the chart libraries of the HTML report to deps/vega, once: Vega, Vega-Lite and Vega-Embed, each the one minified file of
# its npm package with its licence. The packages' bytes must have the sha512 of vega.lock; nothing is installed and no package
# script runs. Takes npm where it is there, else curl to the same registry.
#   deps/vega.sh [FOLDER]     FOLDER instead of deps/vega
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/vega}
lock=$here/vega.lock
if [ -f "$folder/vega.lock" ] && cmp -s "$lock" "$folder/vega.lock"; then
  exit 0
fi
for tool in openssl tar; do
  command -v "$tool" >/dev/null || { echo "deps: $tool is needed to unpack the chart libraries" >&2; exit 2; }
done

# Unpacked beside the place and renamed: what is there is whole.
work=$(mktemp -d "$here/.vega.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "deps: fetching the chart libraries from the npm registry (about 4 MB)"
mkdir "$work/ready"
while read -r name version integrity file; do
  tarball=$work/package.tgz
  if command -v npm >/dev/null; then
    (cd "$work" && mv "$(npm pack --silent --ignore-scripts "$name@$version")" package.tgz)
  else
    registry=${NPM_CONFIG_REGISTRY:-https://registry.npmjs.org}
    curl -fsSL --retry 3 -o "$tarball" "${registry%/}/$name/-/$name-$version.tgz"
  fi
  found=sha512-$(openssl dgst -sha512 -binary "$tarball" | base64 | tr -d '\n')
  if [ "$found" != "$integrity" ]; then
    echo "deps: $name@$version is not the package that was locked: $found" >&2
    exit 2
  fi
  mkdir -p "$work/$name"
  tar xzf "$tarball" -C "$work/$name" --strip-components=1
  rm "$tarball"
  cp "$work/$name/$file" "$work/ready/$name.min.js"
  cp "$work/$name/LICENSE" "$work/ready/$name.LICENSE"
done <"$lock"

# One comment with every licence, which goes wherever the libraries go.
{
  echo "/*! Vega, Vega-Lite and Vega-Embed, unchanged, with what they bundle. Their licences:"
  while read -r name version _; do
    printf '\n-- %s %s\n' "$name" "$version"
    cat "$work/ready/$name.LICENSE"
  done <"$lock"
  cat "$here/vega-bundled.txt"
  echo "*/"
} >"$work/ready/notices.js"
if [ "$(grep -c '\*/' "$work/ready/notices.js")" != 1 ] || grep -qi -e '</script' -e '<!--' "$work/ready/"*.js; then
  echo "deps: a chart library or its licence holds a text that would end a script" >&2
  exit 2
fi
cp "$lock" "$work/ready/vega.lock"
if [ -e "$folder" ]; then rm -rf "$folder"; fi
mkdir -p "$(dirname "$folder")"
mv "$work/ready" "$folder"
echo "deps: the chart libraries are in $folder"
