# What to run, and in which order. `make` alone lists it.

SHELL = /bin/sh
PREFIX ?= /usr/local
SEED ?=
ROUNDS ?= 10000
WRITES ?= 10000
FAILOVERS ?= 7
CUTS ?= 50
SITE ?= .build/site
# The program as it is installed and measured: it needs no Swift on the machine, and has neither debug
# information nor symbols.
INSTALLED = -c release --product storecli --static-swift-stdlib $$(Scripts/link-flags)

.PHONY: help demo quick test laws faults failovers skipped check audit lint format warnings release docs \
	examples live-web size site bench fuzz sanitize install clean sqlite postgres

help:
	@echo 'make demo              the story of the store in half a minute'
	@echo 'make quick             build everything and run the small tests only'
	@echo 'make test              build everything and run every test except the fault tests'
	@echo 'make laws              the laws with many more rounds; ROUNDS=n SEED=n'
	@echo 'make faults            kills, power cuts and damaged files; KILLS=n CUTS=n MUTATIONS=n SEED=n'
	@echo 'make failovers         failovers of PostgreSQL under Patroni; FAILOVERS=n SEED=n'
	@echo 'make audit             format, warnings, the site, a release build, examples; after make test'
	@echo 'make live-web          test the server and the page of Examples/live-web, in Chromium'
	@echo 'make skipped           which tests were skipped; fails when one of them can run here'
	@echo 'make check             test, faults, failovers, audit, live-web, skipped: as CI does'
	@echo 'make format            repair the format of every Swift file'
	@echo 'make docs              record again the pages that are written from code'
	@echo 'make examples          build and run the programs in Examples'
	@echo 'make size              check that the installed program has at most 25 MB'
	@echo 'make site SITE=d       the documentation as a static site, in d or .build/site'
	@echo 'make bench             compare with raw SQLite, GRDB and sqlite-utils, in release'
	@echo 'make fuzz SEED=n       run the seeded tests with that seed; without it, a new one'
	@echo 'make sanitize          run the tests under the thread sanitizer'
	@echo 'make install PREFIX=p  put storecli into p/bin'
	@echo 'make clean             remove what was built'

# SQLite's header and library, installed where that needs no password.
sqlite:
	@Scripts/require-sqlite

# PostgreSQL and its client library for the tests of shared stores, installed where that needs no
# password. The tests run without them, too, and leave those out.
postgres:
	@Scripts/require-postgres

# Builds the command line and what it needs. Without traits, SwiftPM downloads one package.
demo: sqlite
	@echo '==> Building storecli'
	@swift build --product storecli
	@.build/debug/storecli demo

test: sqlite postgres
	@echo '==> Building the library, the command line and the tests'
	@Scripts/build --build-tests
	@echo '==> Running the tests'
	@Scripts/run-all-tests

# The tests to run while you work: no programs, no random input.
quick: sqlite postgres
	@echo '==> Building the library, the command line and the tests'
	@Scripts/build --build-tests
	@echo '==> Running the tests of the unit tier'
	@Scripts/run-tests quick $$(Scripts/suites --skip law process fault)

# The laws alone. ROUNDS is the count of random transactions of each law that takes a count; kills
# of programs take a hundredth of it, and backups a fiftieth. Without SEED each run takes a new one.
laws: sqlite postgres
	@Scripts/build --build-tests
	@seed='$(SEED)'; \
	if [ -z "$$seed" ]; then seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); fi; \
	echo "==> Checking the laws with ROUNDS=$(ROUNDS) SEED=$$seed"; \
	export MODELSTORE_SEED=$$seed MODELSTORE_LIVE_SHARE=1 MODELSTORE_HISTORY=$(ROUNDS) \
		MODELSTORE_LIVE_TRANSACTIONS=$$(($(ROUNDS) * 10)) \
		MODELSTORE_BINDING_TRANSACTIONS=$(ROUNDS) MODELSTORE_RULE_TRANSACTIONS=$(ROUNDS) \
		MODELSTORE_FOREIGN_STEPS=$(ROUNDS) MODELSTORE_SCHEMA_PAIRS=$(ROUNDS) \
		MODELSTORE_FOREIGN_COMMITS=$(ROUNDS) MODELSTORE_DIFFERENCES=$(ROUNDS) \
		MODELSTORE_BACKUPS=$$(($(ROUNDS) / 50 + 1)) \
		MODELSTORE_KILL_ROUNDS=$$(($(ROUNDS) / 100 + 1)); \
	Scripts/run-tests laws $$(Scripts/suites --filter law); \
	status=$$?; echo "==> ROUNDS=$(ROUNDS) SEED=$$seed"; exit $$status

# Kills of programs, power cuts of a disk and damaged files, each with its negative control. The
# counts are bounded; the options give longer runs. Without SEED each run takes a new one. A damaged
# file on which a command crashed or hung is kept in .build/faults, with the commands beside it.
faults: sqlite postgres
	@Scripts/require-fault-tools
	@echo '==> Building the fault tests'
	@Scripts/build --build-tests
	@echo '==> Killing, cutting power, damaging files'
	@rm -rf .build/faults
	@MODELSTORE_KILLS='$(KILLS)' MODELSTORE_CUTS='$(CUTS)' MODELSTORE_MUTATIONS='$(MUTATIONS)' \
		MODELSTORE_SEED='$(SEED)' Scripts/run-tests faults --filter StoreFaultTests

# Starts a cluster of PostgreSQL under Patroni, and installs what that needs where it needs no
# password. Elsewhere it is skipped.
failovers: sqlite postgres
	@echo '==> Building a member of shared stores'
	@Scripts/swift build --product SharedMember
	@echo '==> Failing over'
	@Scripts/check-failover --failovers '$(FAILOVERS)' $(if $(SEED),--seed '$(SEED)') \
		--skipped .build/skipped-failovers.txt || [ $$? -eq 77 ]

# Prints what the latest runs skipped; fails when it could have run here.
skipped:
	@echo '==> Tests that were skipped'
	@Scripts/check-skipped

check: test faults failovers audit live-web skipped

audit: lint warnings site release examples
	@echo '==> All checks passed'

lint:
	@echo '==> Checking the format'
	@Scripts/lint

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests Examples Benchmarks

warnings:
	@echo '==> Checking that the build gave no warning'
	@Scripts/check-warnings

# The optimizer of a release build refuses code that a debug build takes.
release: sqlite
	@echo '==> Building the command line in release'
	@swift build -c release --product storecli -Xswiftc -warnings-as-errors

# The program as it is installed.
size: sqlite
	@echo '==> Building the command line as it is installed'
	@swift build $(INSTALLED)
	@Scripts/check-size .build/release/storecli

docs: sqlite postgres
	RECORD=1 Scripts/swift test --filter \
		'DocumentationExamplesTests|RecordedTextTests|AcceptancePageTests|LayerTableTests'

examples: sqlite
	@echo '==> Building and running the examples'
	@swift build --package-path Examples --scratch-path .build/examples --build-tests \
		-Xswiftc -warnings-as-errors
	@Scripts/check-examples .build/examples/debug
	@swift test --package-path Examples --scratch-path .build/examples --skip-build
	@echo '==> Pasting the quick start into an empty package'
	@Scripts/check-quickstart .build/quickstart

# A suite of its own: Hummingbird takes minutes to build. WRITES and CUTS count random writes and cut
# connections of the browser tests.
live-web: sqlite
	@echo '==> Building and testing the live web page'
	@Scripts/check-live-web --writes '$(WRITES)' --cuts '$(CUTS)'

# The documentation as a static site for any web server; BASE is its path there.
site: sqlite
	@echo '==> Writing the documentation as a site'
	@Scripts/site '$(SITE)' '$(BASE)'

bench: sqlite
	swift build $(INSTALLED)
	STORECLI=.build/release/storecli \
		swift run -c release --package-path Benchmarks --scratch-path .build/benchmarks benchmarks

fuzz: sqlite postgres
	@Scripts/build --build-tests
	@seed='$(SEED)'; \
	if [ -z "$$seed" ]; then seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); fi; \
	echo "==> Running the tests with SEED=$$seed"; \
	MODELSTORE_SEED=$$seed Scripts/swift test --skip-build

sanitize: sqlite postgres
	Scripts/swift test --sanitize=thread -Xswiftc -DTHREAD_SANITIZER \
		--scratch-path .build-thread-sanitizer --filter ModelStoreTests

install: sqlite
	swift build $(INSTALLED)
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 .build/release/storecli $(DESTDIR)$(PREFIX)/bin/storecli

clean:
	rm -rf .build .build-thread-sanitizer
