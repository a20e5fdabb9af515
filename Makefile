# The everyday words; CMake and Ninja do the work (CMakePresets.json names the builds).
#
#   make                       the optimised command, left at build/silt
#   make test [BUILD=asan]     every test, in that build; ARGS='--suite unit' for less
#   make help                  the rest
BUILD  ?= release
PREFIX ?= /usr/local
ARGS   ?=
DIR    := build/$(BUILD)
export NINJA_STATUS := [%f/%t %es] 

# The command that people run is the optimised one, whatever else is built.
silt: setup
	@scripts/configure.sh release
	@cmake --build build/release --target products
	@ln -sfn release/silt build/silt

# Every program and test of one build. Ninja itself configures again when a CMake file changes; configure.sh sees to the rest.
all: setup
	@scripts/configure.sh $(BUILD)
	@cmake --build $(DIR)

setup:
	@scripts/setup.sh

demo: silt
	@build/silt demo

test: all
	@python3 tests/run_all.py --build $(DIR) $(ARGS)

remote: all
	@tests/remote/run.sh $(DIR) $(ARGS)

interop: silt
	@tests/interop/run.sh

bench: silt
	@bench/run.sh $(ARGS)

format:
	@scripts/setup.sh format
	@find src include tests examples bench -name '*.[ch]' -o -name '*.cc' 2>/dev/null | xargs -r clang-format -i

tidy:
	@scripts/setup.sh tidy
	@scripts/configure.sh dev
	@find src -name '*.c' | xargs -r -P 2 -n 4 clang-tidy --quiet -p build/dev

install: $(if $(wildcard build/release/silt),,silt)
	@cmake --install build/release --prefix '$(PREFIX)'

clean:
	@rm -rf build

help:
	@echo 'make               build the optimised command: build/silt'
	@echo 'make demo          build, then create, load, query, change and check a table'
	@echo 'make test          build and run every test; BUILD=dev|asan|tsan, ARGS="--suite sql --match merge"'
	@echo 'make remote        test HDFS, S3, Azure and GCS with real servers (installs them first)'
	@echo 'make interop       check against Spark and delta-rs, both directions (installs them first)'
	@echo 'make bench         measure against deltalake'
	@echo 'make install       PREFIX=/usr/local, DESTDIR='
	@echo 'make format        clang-format over all sources'
	@echo 'make tidy          clang-tidy over src/'
	@echo 'make clean         remove build/'
	@echo 'Set-up is part of each (scripts/setup.sh). SILT_DEPS: where libduckdb is kept;'
	@echo 'SILT_DUCKDB_LIBRARY, SILT_DUCKDB_INCLUDE: use this one instead.'

.PHONY: silt all setup demo test remote interop bench format tidy install clean help
