# What to run, and in which order. `make` alone lists it.

SHELL = /bin/sh
PREFIX ?= /usr/local
SEED ?=

.PHONY: help demo test check audit lint format warnings docs examples bench fuzz sanitize install \
	clean sqlite

help:
	@echo 'make demo              the story of the store in half a minute'
	@echo 'make test              build everything and run every test'
	@echo 'make check             make test, then format, warnings, documentation and examples'
	@echo 'make audit             what make check does after make test'
	@echo 'make format            repair the format of every Swift file'
	@echo 'make docs              record the pages that are written from code anew'
	@echo 'make examples          build and run the programs in Examples'
	@echo 'make bench             compare with raw SQLite and GRDB, in release'
	@echo 'make fuzz SEED=n       run the seeded tests with that seed; without it, a new one'
	@echo 'make sanitize          run the tests under the thread sanitizer'
	@echo 'make install PREFIX=p  put storecli into p/bin'
	@echo 'make clean             remove what was built'

# SQLite's header and library, installed where that needs no password.
sqlite:
	@Scripts/require-sqlite

# Builds the command line and what it needs; never the macro, whose compiler library takes minutes.
demo: sqlite
	@echo '==> Building storecli'
	@swift build --product storecli
	@.build/debug/storecli demo

test: sqlite
	@echo '==> Building the library, the command line and the tests'
	@Scripts/build --build-tests
	@echo '==> Running the tests'
	@swift test --skip-build

check: test audit

audit: lint warnings examples
	@echo '==> All checks passed'

lint:
	@echo '==> Checking the format'
	@Scripts/lint

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests Examples Benchmarks

warnings:
	@echo '==> Checking that the build gave no warning'
	@Scripts/check-warnings

docs: sqlite
	RECORD=1 swift test --filter 'DocumentationExamplesTests|RecordedTextTests'

examples: sqlite
	@echo '==> Building and running the examples'
	@swift build --package-path Examples --scratch-path .build/examples -Xswiftc -warnings-as-errors
	@Scripts/check-examples .build/examples/debug

bench: sqlite
	swift run -c release --package-path Benchmarks --scratch-path .build/benchmarks benchmarks

fuzz: sqlite
	@Scripts/build --build-tests
	@seed='$(SEED)'; \
	if [ -z "$$seed" ]; then seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); fi; \
	echo "==> Running the tests with SEED=$$seed"; \
	MODELSTORE_SEED=$$seed swift test --skip-build

sanitize: sqlite
	swift test --sanitize=thread -Xswiftc -DTHREAD_SANITIZER \
		--scratch-path .build-thread-sanitizer --filter ModelStoreTests

install: sqlite
	swift build -c release --product storecli --static-swift-stdlib
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 .build/release/storecli $(DESTDIR)$(PREFIX)/bin/storecli

clean:
	rm -rf .build .build-thread-sanitizer
