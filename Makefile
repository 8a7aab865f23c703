# Thin wrappers over the CMake presets. `make help` lists them.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
DEMO_DIR ?= unmask-demo
FUZZ_SECONDS ?= 600
.DEFAULT_GOAL := help
.PHONY: help deps build package demo demo-full test bench lint lint-apart browser fuzz asan asan-core tsan clang check-all calibration live clean

help:
	@echo "make build        the program, build/release/unmask"
	@echo "make package      a .deb of the program, into build/release/packages"
	@echo "make demo         build, then the experiment, small: an agent of our own, quantized, about a minute"
	@echo "make demo-full    both worlds, eight arms, repair and constraint: long"
	@echo "make test         build and run every test not labelled slow, live or browser"
	@echo "make bench        benchmarks against their comparators, as ratios"
	@echo "make lint         formatting and clang-tidy"
	@echo "make fuzz         each fuzz target for FUZZ_SECONDS ($(FUZZ_SECONDS)) under ASan and UBSan"
	@echo "make asan | tsan  the tests under sanitizers"
	@echo "make browser      the HTML report in headless Chromium"
	@echo "make live         a small run against llama.cpp's server, which is built once (minutes; needs npm)"
	@echo "make check-all    everything above and the slow tests"

deps:
	@deps/install.sh

build: deps
	@mkdir -p build
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -j $(JOBS) --target unmask

package: build
	@deps/install.sh --with-packaging
	@cmake --build --preset release -j $(JOBS) --target unmask_texts
	@cd build/release && cpack -G DEB -B packages >packages.log 2>&1 || { cat packages.log; exit 1; }
	@ls -l build/release/packages/*.deb

demo: build
	@tools/demo.sh build/release/unmask $(DEMO_DIR)

demo-full: build
	@build/release/unmask demo --full -o pocket-study

test: deps
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	ctest --test-dir build/dev --output-on-failure -j $(JOBS) -LE 'slow|live|browser'

asan: deps
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS)
	ctest --test-dir build/asan --output-on-failure -j $(JOBS) -LE 'slow|live|browser|cli|oracle'

# The rooms that touch bytes from outside and those that index by what was in them, and the fuzz corpora; `make asan` has all.
CORE := base trace ingest failure metrics stats
CORE_TESTED := $(sort $(filter $(CORE),$(notdir $(patsubst %/,%,$(dir $(wildcard src/*/*_test.cc))))))
# The fuzz targets that need no more than those rooms.
LOG_READERS := classify compressed inspect_eval inspect_json native openai tau1 tau2 tau2_dir
asan-core: deps
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS) --target $(addsuffix _test,$(CORE_TESTED)) $(addprefix fuzz_,$(LOG_READERS))
	ctest --test-dir build/asan --output-on-failure -j $(JOBS) \
	  -R '^($(subst $(eval) ,|,$(CORE)))$$|^fuzz_corpus.($(subst $(eval) ,|,$(LOG_READERS)))$$'

tsan: deps
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS)
	ctest --test-dir build/tsan --output-on-failure -j $(JOBS) -LE 'slow|live|browser|cli|oracle'

clang:
	@deps/install.sh --with-clang
	cmake --preset clang
	cmake --build --preset clang -j $(JOBS)

lint:
	@deps/install.sh --with-clang
	@tools/lint.sh

lint-apart:
	@deps/install.sh --with-clang
	@tools/lint.sh --apart

bench: deps
	cmake --preset release -DUNMASK_BENCH=ON
	cmake --build --preset release -j $(JOBS)
	bench/run.sh build/release

fuzz:
	@deps/install.sh --with-clang
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)
	tools/fuzz.sh build/fuzz $(FUZZ_SECONDS)

calibration: deps
	cmake --preset release -DUNMASK_TESTS=ON
	cmake --build --preset release -j $(JOBS) --target pipeline_calibration
	tests/calibration/run.sh build/release

live: build
	tests/live/build_llama_server.sh build/llama-server
	cmake --preset release -DUNMASK_TESTS=ON >/dev/null
	ctest --test-dir build/release --output-on-failure -L live --verbose

browser:
	@deps/install.sh --with-browser
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS) --target unmask
	ctest --test-dir build/dev --output-on-failure -L browser --verbose

check-all: lint-apart clang asan tsan test browser
	tests/llama_quantize/build_llama_quantize.sh build/llama-quantize
	ctest --test-dir build/dev --output-on-failure -L slow
	$(MAKE) fuzz

clean:
	rm -rf build $(DEMO_DIR)
