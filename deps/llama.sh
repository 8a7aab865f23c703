#!/usr/bin/env bash
# Brings llama.cpp to deps/llama, once: prebuilt libraries in lib/, their own source in source/ (headers, chat templates,
# vocabularies, gguf-py). Both come from npm packages of one version, whose bytes must have the sha512 of llama.lock; nothing is
# installed and no package script runs. Takes npm where it is there, else curl to the same registry.
#   deps/llama.sh [FOLDER]     FOLDER instead of deps/llama
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/llama}
lock=$here/llama.lock
if [ -f "$folder/llama.lock" ] && cmp -s "$lock" "$folder/llama.lock"; then
  exit 0
fi
if [ "$(uname -sm)" != "Linux x86_64" ]; then
  echo "deps: the prebuilt libraries are for Linux on x86_64; on $(uname -sm) use -DUNMASK_LLAMA=system or off" >&2
  exit 2
fi
for tool in git openssl tar; do
  command -v "$tool" >/dev/null || { echo "deps: $tool is needed to unpack llama.cpp" >&2; exit 2; }
done

# Unpacked beside the place and renamed: what is there is whole.
work=$(mktemp -d "$here/.llama.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "deps: fetching llama.cpp's libraries and source from the npm registry (about 47 MB)"
while read -r name version integrity; do
  tarball=$work/package.tgz
  base=${name##*/}
  if command -v npm >/dev/null; then
    (cd "$work" && mv "$(npm pack --silent --ignore-scripts "$name@$version")" package.tgz)
  else
    registry=${NPM_CONFIG_REGISTRY:-https://registry.npmjs.org}
    curl -fsSL --retry 3 -o "$tarball" "${registry%/}/$name/-/$base-$version.tgz"
  fi
  found=sha512-$(openssl dgst -sha512 -binary "$tarball" | base64 -w0)
  if [ "$found" != "$integrity" ]; then
    echo "deps: $name@$version is not the package that was locked: $found" >&2
    exit 2
  fi
  mkdir -p "$work/$base"
  tar xzf "$tarball" -C "$work/$base" --strip-components=1
  rm "$tarball"
done <"$lock"
mkdir "$work/llama"
git clone -q "$work/node-llama-cpp/llama/gitRelease.bundle" "$work/llama/source" 2>/dev/null
mv "$work/linux-x64/bins/linux-x64" "$work/llama/lib"
rm -f "$work/llama/lib/"*.node
cp "$lock" "$work/llama/llama.lock"
if [ -e "$folder" ]; then rm -rf "$folder"; fi
mkdir -p "$(dirname "$folder")"
mv "$work/llama" "$folder"
echo "deps: llama.cpp is in $folder"
