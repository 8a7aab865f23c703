#!/usr/bin/env bash
# Installs the Debian packages that unmask builds and tests with. Idempotent: does nothing, and says so,
# when all are there. Needs root or sudo only when something is missing.
set -euo pipefail

packages=(
  # build
  g++-12 cmake ninja-build ccache lld make git ca-certificates curl openssl
  # libraries
  libsimdjson-dev nlohmann-json3-dev libcli11-dev libfmt-dev libtomlplusplus-dev libboost-dev
  libboost-math-dev libvalijson-dev zlib1g-dev libzstd-dev libzip-dev libssl-dev
  libcurl4-openssl-dev
  # tests and benchmarks
  libgtest-dev libbenchmark-dev python3 python3-numpy python3-scipy
)
# Only for `make lint`, `make fuzz` and the clang build.
clang_packages=(clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14)

# Only for `make package`.
packaging_packages=(dpkg-dev file)

if [ "${1:-}" = "--with-packaging" ]; then packages+=("${packaging_packages[@]}"); fi
# Only for `make browser` and tools/gallery.sh.
browser_packages=(chromium chromium-driver python3-selenium)

if [ "${1:-}" = "--with-clang" ]; then packages+=("${clang_packages[@]}"); fi
if [ "${1:-}" = "--with-browser" ]; then packages+=("${browser_packages[@]}"); fi

missing=()
for package in "${packages[@]}"; do
  if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != "installed" ]; then
    missing+=("$package")
  fi
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "deps: all ${#packages[@]} Debian packages are installed"
  exit 0
fi

echo "deps: installing ${#missing[@]} Debian packages: ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null; then
  as_root=(sudo)
else
  echo "deps: root or sudo is needed for: apt-get install ${missing[*]}" >&2
  exit 1
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
echo "deps: done"
