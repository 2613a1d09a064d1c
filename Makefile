# The commands of the project; `make help` lists them. The work is done by CMake (CMakePresets.json) and tools/.
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
TRACE ?= examples/resnet18_compiled.json.gz

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  TRACE=FILE for demo, PRESETS=release for test, PREFIX= and DESTDIR= for install,"
	@echo "  BENCH_SIZE=1G for bench, FUZZ_SECONDS=60 for fuzz, JOBS=N for all that compile"

demo: build  ## install what is missing, build, and run ridge on a real trace
	@echo
	@echo "$$ build/ridge $(TRACE)"
	@build/ridge "$(TRACE)"

build:  ## the release binary, build/ridge
	@tools/setup build
	@test -f build/build.ninja || cmake --preset release -DRIDGE_TESTS=OFF
	@cmake --build build --target ridge profile_analysis -j $(JOBS)

test:  ## every test, then all of them again under sanitizers
	@tools/setup build test python
	@tools/setup torch || echo "going on without PyTorch: tests that record programs are skipped"
	@JOBS=$(JOBS) tools/run_tests $(PRESETS)

test-all:  ## the same with the whole of what `make test` samples: every cut, every damage, every trace
	@RIDGE_TEST_ALL=1 $(MAKE) test

update:  ## rewrite the expected output of golden cases and documents; review the diff
	@tools/setup build test
	@$(MAKE) build
	@python3 tests/golden/run.py --update
	@cmake --preset release -DRIDGE_TESTS=ON > /dev/null && cmake --build build --target ridge_tests -j $(JOBS)
	@RIDGE_UPDATE=1 build/ridge_tests --gtest_filter=SchemaDocument.*
	@python3 tools/check_docs --update
	@python3 python/tests/run --stubs

wheel: build  ## build/dist/ridge-*.whl: the Python package, for every CPython from 3.10 on that is here
	@tools/setup python
	@tools/make_wheel

wheel-arm64:  ## the same for arm64, compiled on another machine and loaded there by emulation
	@tools/arm64 --wheel

install: build  ## into PREFIX (/usr/local), under DESTDIR
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"

bench:  ## generate traces, race ridge against json.load and simdjson on them
	@tools/setup build bench
	@cmake --preset release -DRIDGE_BENCH=ON > /dev/null
	@cmake --build build -j $(JOBS) --target ridge bench
	@python3 bench/compare/run.py $(BENCH_FLAGS)
	@python3 bench/serve/run.py
	@python3 bench/serve/run.py --size 500M --clients 8 --seconds 60
	@python3 bench/python/rivals.py
	@build/ridge_micro

fuzz:  ## every fuzz target for FUZZ_SECONDS
	@tools/setup build fuzz
	@cmake --preset fuzz > /dev/null
	@cmake --build --preset fuzz -j $(JOBS)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tools/run_fuzzers $(TARGETS)

lint:  ## clang-format and clang-tidy, both as errors; the layer check
	@tools/setup build test bench lint
	@tools/each_source clang-format-19 --dry-run -Werror
	@cmake --preset tidy > /dev/null
	@tools/each_source --compiled clang-tidy-19 -p build/tidy --quiet
	@python3 tools/check_layers

format:  ## rewrite the sources in the project's format
	@tools/setup lint
	@tools/each_source clang-format-19 -i

clean:  ## remove build/
	rm -rf build

.PHONY: help demo build test test-all update wheel wheel-arm64 install bench fuzz lint format clean
