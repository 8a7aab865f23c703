#!/usr/bin/env bash
# Every benchmark against its comparator, in one session on one machine.
#   bench/run.sh BUILD_DIR [MEGABYTES]
set -euo pipefail
build=$1
megabytes=${2:-1024}
here=$(cd "$(dirname "$0")" && pwd)
data=$build/../bench-data
echo "machine: $(nproc) cores, $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2- | xargs), $(uname -sr)"
echo
echo "== audit end to end against Python and against a bare simdjson walk"
/usr/bin/python3 "$here/audit_bench.py" "$build/unmask" "$build/ingest_bench" --megabytes "$megabytes" --folder "$data"
echo
echo "== reading against a bare simdjson walk of the same slices"
"$build/ingest_bench" --file "$data/planted_$megabytes.json"
echo
echo "== resampling against numpy"
/usr/bin/python3 "$here/peers/bootstrap_numpy.py" "$build/stats_bench"
echo
echo "== chat requests against a bare libcurl loop"
"$build/llm_bench" 2000
echo
echo "== the worlds' actions a second; bench/results/environment.md has upstream's"
if [ -n "${TAU2_DATA_DIR:-}" ]; then "$build/environment_bench"; else echo "left out: TAU2_DATA_DIR is not set"; fi
echo
echo "== the embedded engine: tokens saved by shared beginnings, requests a second"
if [ -x "$build/llama_bench" ]; then "$build/llama_bench"; else echo "left out: built without llama.cpp"; fi
echo
echo "== whole runs against llama.cpp's server"
server=$build/../llama-server/llama-server
if [ -x "$build/llama_bench" ] && [ -x "$server" ]; then /usr/bin/python3 "$here/llama_server_bench.py" "$build/unmask" "$server"
else echo "left out: needs llama.cpp and its server (tests/live/build_llama_server.sh build/llama-server)"; fi
