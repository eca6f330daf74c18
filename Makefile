# The commands to know are `make demo`, `make check` and `make check-all`; see README.md. CMake does the work: presets in CMakePresets.json.
PREFIX ?= /usr/local

.PHONY: help build demo check check-all gpu-check gpu-bench install format tidy debug asan tsan fuzz bench mutate clean

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 12

build: ## the command, build/release/bin/warplens
	@tools/bootstrap.sh build
	@tools/build.sh release all

demo: build ## profile an example without a GPU and write its report
	@tools/demo.sh

check: ## everything that a change must pass: format, build, tests, linter
	@tools/bootstrap.sh check
	@tools/check.sh

check-all: ## what continuous integration runs: check, a short bench, the tests under sanitizers, the fuzzers
	@tools/bootstrap.sh check
	@tools/check.sh all

gpu-check: build ## run programs on a GPU with and without warplens; skipped where there is none
	@tools/gpu_check.sh

gpu-bench: build ## what profiling on a GPU costs, against the limits; skipped where there is none
	@bench/overhead/run.py; status=$$?; [ $$status -eq 77 ] || { bench/overhead/check_limits.py build/release/overhead && exit $$status; }

install: build ## into PREFIX, /usr/local where none is given; DESTDIR is honoured
	@cmake --install build/release --prefix "$(PREFIX)"

format: ## rewrite C sources in the project's format
	@tools/bootstrap.sh check
	@tools/check_style.py --fix

tidy: ## clang-tidy, over what changed since it last passed
	@tools/bootstrap.sh check
	@tools/build.sh release
	@tools/tidy.py

debug asan tsan: ## build and test with assertions; address and undefined-behaviour, thread sanitizer
	@tools/bootstrap.sh check
	@tools/build.sh $@ all tests
	@ctest --preset $@ -j "$$(nproc)"

fuzz: ## each fuzzer for FUZZ_SECONDS (60)
	@tools/bootstrap.sh check
	@tools/build.sh fuzz fuzzers
	@tools/fuzz.sh

bench: ## what is claimed about speed, and about scale (4 GB of memory)
	@tools/bootstrap.sh check
	@tools/build.sh release all bench
	@tools/bench.sh

mutate: ## plant COUNT (50) defects in FOLDERS of src (all), drawn by SEED (1), and tell those that no test notices
	@tools/bootstrap.sh check
	@tools/mutate.py --count $(or $(COUNT),50) --seed $(or $(SEED),1) $(addprefix --folder ,$(FOLDERS)) --results build/mutate/results.csv

clean: ## build output, not what bootstrap installed
	@rm -rf build
