# Everything one does with Spindle. `make` alone lists it.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
# The suites take processor time as their measure, and their reports are to be read: one after the other, also with -j.
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# A shell that was not logged in may not have rustup's folder on its PATH.
CARGO ?= $(or $(shell command -v cargo),$(HOME)/.cargo/bin/cargo)
PHP ?= php
TARGET := $(or $(CARGO_TARGET_DIR),target)
export CARGO

.PHONY: help
help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 18

# --- using it --------------------------------------------------------------------------------------------------------

.PHONY: demo
demo: ## an ordinary PHP page, plain and with Spindle (DEMO_SERVERS=1: also PostgreSQL, MariaDB, Redis)
	@scripts/setup demo
	@$(MAKE) build
	@$(PHP) examples/demo.php

.PHONY: build
build: ## build/spindle.so, and the command build/spindle
	@scripts/requirements
	$(CARGO) build --release -p spindle-module -p spindle-launcher
	@mkdir -p build
# A PHP that is running has the file mapped: it is replaced as a whole, and only by something else.
	@replace() { cmp -s "$$1" "$$2" || { cp "$$1" "$$2.new"; mv "$$2.new" "$$2"; }; }; \
	    replace $(TARGET)/release/libspindle.so build/spindle.so; \
	    replace $(TARGET)/release/spindle build/spindle

# As root, of what an ordinary user has built: cargo would leave files of root's behind.
.PHONY: install
install: ## builds it and installs it into this PHP: PHP_CONFIG= PREFIX= DESTDIR=
	@test -n "$${SUDO_USER-}" -a -f build/spindle.so || $(MAKE) build
	@scripts/install

.PHONY: uninstall
uninstall: ## removes what was installed
	@scripts/install uninstall

.PHONY: dist
dist: build ## build/dist: archives of what was built, as PIE looks for them, and their checksums
	@scripts/dist archives

.PHONY: deb
deb: build ## build/dist: Debian packages of what was built
	@scripts/dist deb

# What one does all day: a debug build, and one test, some, or all.
TESTS ?= tests/phpt
.PHONY: dev
dev: rust ## a debug build, and phpt tests with it: TESTS=tests/phpt/scope
	@$(CARGO) build -p spindle-module -p spindle-launcher
	@SPINDLE_EXTENSION=$(TARGET)/debug/libspindle.so tests/run-phpt $(TESTS)

# Makes libc calls fail, for the tests.
.PHONY: build-faults
build-faults: build
	$(CARGO) build --release -p spindle-faults
	@cp $(TARGET)/release/libspindle_faults.so build/faults.so.new && mv build/faults.so.new build/faults.so

.PHONY: rust
rust:
	@command -v $(CARGO) >/dev/null || { echo "There is no cargo: install Rust first (https://rustup.rs)." >&2; exit 1; }

.PHONY: bench
bench: ## the benchmarks, plain Fiber beside each
	@scripts/setup bench
	@$(MAKE) build
	@bench/run

.PHONY: clean
clean: rust ## removes what was built
	$(CARGO) clean
	rm -rf build

# --- testing it ------------------------------------------------------------------------------------------------------

.PHONY: check
check: lint test-rust test-phpt ## format, lints, API docs and the fast tests

# Runs a suite, and fails where one ended without its closing line, or skipped what tests/may-skip does not name.
suite = $(TARGET)/debug/xtask suite
.PHONY: xtask
xtask: rust
	@$(CARGO) build --quiet -p xtask

# What the suites need, by two cargos at once: one links for minutes on one processor. What fails here is told by the suite that
# needs it.
.PHONY: compiled
compiled: rust
	@scripts/requirements
	@mkdir -p $(TARGET); { $(CARGO) build --quiet --release -p spindle-module -p spindle-launcher & \
	    $(CARGO) clippy --quiet --workspace --all-targets -- -D warnings; $(CARGO) nextest run --cargo-quiet --no-run --workspace; wait $$!; } >$(TARGET)/compiled.log 2>&1 || :

# Suites go on after one that failed (-k), so that one run tells all.
.PHONY: test
test: ## everything: installs what it needs, starts the servers it needs
	@scripts/setup test
	@$(MAKE) compiled
	@$(MAKE) -k lint test-rust test-loom test-phpt test-embedding test-seeds test-observers test-matrix-itself test-matrix test-extensions test-sapi test-server test-faults test-chaos test-compositions \
	    test-syntax test-transpiled test-php-src-sample test-php-src-fibers test-applications-sample test-loops test-docs test-types test-demo test-examples \
	    || { echo "Some suites failed; each has its own closing line above." >&2; exit 1; }
	@echo "All suites passed. Not among them: $$(tests/packages/run --last); $$($(PHP) tests/server/strain --last)"

.PHONY: lint
lint: rust
	@$(CARGO) fmt --version >/dev/null && $(CARGO) clippy --version >/dev/null || \
	    { echo "There is no rustfmt or no clippy: 'scripts/setup rust' installs them." >&2; exit 1; }
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path bench/hyper/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps
	$(CARGO) xtask lint
	scripts/gen-stub --check
	$(PHP) scripts/gen-api --check
	$(PHP) tests/mutations/run --tables

# Other people's crates, with the database of known vulnerabilities, which takes the network. `make lint` checks licenses,
# sources and Rust versions without it.
.PHONY: deny
deny: rust
	@$(CARGO) deny --version >/dev/null 2>&1 || \
	    { echo "There is no cargo-deny: 'cargo install --locked cargo-deny' compiles it, in some minutes." >&2; exit 1; }
	$(CARGO) deny check

# With the oldest Rust that Cargo.toml promises, which rustup has to have. Clippy knows from which version on the library has
# something; only this sees what is too new in the language.
msrv = $(shell sed -nE 's/^rust-version = "(.*)"/\1/p' Cargo.toml)
.PHONY: msrv
msrv: rust
	$(CARGO) +$(msrv) check --workspace --all-targets --locked --target-dir $(TARGET)/msrv

# What tests draw, they draw from SEED: 7, so that a change is judged by the same lots as the one before. With `random`, and
# for a while, they are to find what none has seen.
seed := $(filter-out random,$(or $(SEED),7))

.PHONY: test-rust
test-rust: rust xtask
	@echo "== Rust"
	@$(if $(seed),PROPTEST_RNG_SEED=$(seed)) $(suite) rust tests/run-rust --workspace

# Every interleaving of the structures that threads share.
.PHONY: test-loom
test-loom: rust xtask
	@echo "== loom"
	@RUSTFLAGS="--cfg loom" $(suite) loom tests/run-rust -p spindle-inbox --release --target-dir $(TARGET)/loom

.PHONY: test-phpt
test-phpt: build xtask
	@echo "== phpt"
	@$(suite) phpt tests/run-phpt

# A debug build, with the assertions.
.PHONY: test-embedding
test-embedding: rust xtask
	@echo "== coroutines of Rust code"
	@$(CARGO) build -p spindle-embedding
	@SPINDLE_EXTENSION=$(TARGET)/debug/libspindle_embedding.so $(suite) embedding tests/run-phpt tests/embedding

# A program must not depend on who of the ready ones runs next, and neither may these tests, nor Spindle.
SEEDED := $(addprefix tests/phpt/,cancel coroutine errors hazards io poll primitives scope server syntax)
.PHONY: test-seeds
test-seeds: build xtask
	@seed=$(or $(seed),$$((RANDOM * 32768 + RANDOM + 1))); \
	    echo "== phpt in another order, by the seed $$seed"; \
	    $(suite) seeds tests/run-phpt -d async.seed=$$seed $(SEEDED)

# Debuggers, profilers and tracers.
.PHONY: test-observers
test-observers: build xtask
	@echo "== observers"
	@$(suite) observers tests/observers/run

.PHONY: test-observers-all
test-observers-all: build xtask
	@echo "== phpt under each mode of Xdebug"
	@$(suite) observers tests/observers/run --phpt

.PHONY: test-matrix
test-matrix: build xtask
	@echo "== extensions and real servers"
	@$(suite) matrix tests/ext-matrix/run

# Does that suite fail where it should? It needs neither the extension nor a server.
.PHONY: test-matrix-itself
test-matrix-itself: xtask
	@echo "== the suite of extensions and real servers, against shims that are wrong"
	@$(suite) matrix-itself tests/ext-matrix/selftest/run

.PHONY: test-sapi
test-sapi: build xtask
	@echo "== web servers and other SAPIs"
	@$(suite) sapi $(PHP) tests/sapi/run

.PHONY: test-server
test-server: build xtask
	@echo "== the HTTP server and real clients"
	@status=0; $(suite) server $(PHP) tests/server/run || status=1; $(suite) strain $(PHP) tests/server/strain || status=1; exit $$status

# With as many clients and bytes as the documentation promises, and limits of time and memory: on a machine with little else to do.
.PHONY: test-strain
test-strain: build xtask
	@scripts/setup strain
	@echo "== the HTTP server under strain"
	@$(suite) strain $(PHP) tests/server/strain --long

.PHONY: test-faults
test-faults: build-faults xtask
	@echo "== faults"
	@$(suite) faults tests/faults/run

.PHONY: test-faults-all
test-faults-all: build-faults xtask
	@echo "== faults, every call in turn"
	@$(suite) faults tests/faults/run --all

.PHONY: test-chaos
test-chaos: build-faults xtask
	@echo "== chaos"
	@$(suite) chaos tests/chaos/run $(if $(seed),--seed $(seed))

# Programs that compose features at random, beside PHP alone. More of them: PROGRAMS=2000.
.PHONY: test-compositions
test-compositions: build xtask
	@echo "== random compositions"
	@$(suite) compositions $(PHP) tests/compositions/run --programs $(or $(PROGRAMS),100)

# Other versions of PHP and other processors, in roots of Debian that it makes: `tests/ports/run` says how, and when each
# passed last. Not a part of `make test`: with the emulated processor it takes hours. PORTS="php-8.4" is one of them. Alpine
# is one where SPINDLE_ALPINE names its archive.
.PHONY: test-ports
test-ports: rust
	@status=0; for port in $(or $(PORTS),$(filter-out $(if $(SPINDLE_ALPINE),,alpine),$(shell sed -n 's/^\([a-z][^ ]*\) .*/\1/p' tests/ports/table))); do \
	    tests/ports/run $$port || status=1; done; \
	    for file in $(or $(SPINDLE_ROOTS),/tmp/roots)/*.passed; do sed "s,^,passed last, $$(basename $$file .passed): ," $$file; done; exit $$status

# Rust's sanitizers are not stable yet: the variable lets a stable compiler take the option.
triple = $(shell rustc -vV | sed -n 's/^host: //p')
.PHONY: test-asan
test-asan: rust xtask
	@echo "== phpt with AddressSanitizer"
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address --cfg asan" \
	    CFLAGS_$(subst -,_,$(triple))="-fsanitize=address -fno-omit-frame-pointer" \
	    $(CARGO) build -p spindle-module --target $(triple) --target-dir $(TARGET)/asan
	@$(suite) asan tests/asan/run $(TARGET)/asan/$(triple)/debug/libspindle.so

# Every extension that is installed, suspended in its calls. In another order, and another one: SEEDS="1 2".
.PHONY: test-extensions
test-extensions: build xtask
	@echo "== calls of every extension, suspended"
	@$(suite) extensions tests/extensions/run --seeds "$(or $(SEEDS),0 1)"

# Functions of all extensions, called at random by coroutines that share what they are called with. Takes an hour or so.
.PHONY: test-calls
test-calls: build xtask
	@echo "== calls at random"
	@$(suite) calls tests/calls/run

.PHONY: test-docs
test-docs: build xtask
	@echo "== examples in the documentation"
	@$(suite) docs tests/run-docs

# What analysers infer of packages/ide-helper. SPINDLE_ANALYSER names Mago; without it the programs are run only.
.PHONY: test-types
test-types: build xtask
	@echo "== types for analysers"
	@$(suite) types $(PHP) tests/types/run

.PHONY: test-demo
test-demo: build
	@echo "== demo"
	@if DEMO_SERVERS=1 $(PHP) examples/demo.php; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; exit 1; fi

# Each way to install it, from nothing, in a Debian of its own: as root, with the network, in ten minutes or so.
.PHONY: test-packages
test-packages: build xtask
	@echo "== packages, each in a clean root"
	@scripts/setup packages
	@$(suite) packages tests/packages/run

# The other examples, under load.
.PHONY: test-examples
test-examples: build xtask
	@echo "== examples"
	@$(suite) examples $(PHP) tests/examples/supervisor
	@$(suite) pdo-pool $(PHP) tests/examples/pdo-pool
	@$(suite) http-examples tests/examples/http

.PHONY: test-syntax
test-syntax: rust xtask
	@echo "== the lexer and the rewriter, against PHP's own lexer and real sources"
	@$(suite) syntax tests/syntax/run

# Each rule disabled in turn: which test notices? Takes an hour or two.
.PHONY: test-mutations
test-mutations: rust
	@echo "== mutations"
	@tests/mutations/run

# With the operators, and as the plain PHP that the command makes of them.
.PHONY: test-transpiled
test-transpiled: build xtask
	@echo "== transpiled programs"
	@$(suite) transpiled tests/syntax/transpiled

# PHP's own tests: all of them take about half an hour.
.PHONY: test-php-src
test-php-src: build xtask
	@echo "== PHP's own tests"
	@$(suite) php-src tests/php-src/run

.PHONY: test-php-src-sample
test-php-src-sample: build xtask
	@echo "== PHP's own tests, a sample"
	@$(suite) php-src tests/php-src/run --sample

# Event loops in PHP on Async\Poll, and libraries on them. What is not packaged is in the folder that SPINDLE_SOURCES names.
.PHONY: test-loops
test-loops: build xtask
	@echo "== event loops"
	@$(suite) loops tests/loops/run

# Those of fibers and generators: with the extension loaded and no coroutine, and inside a coroutine.
.PHONY: test-php-src-fibers
test-php-src-fibers: build xtask
	@echo "== PHP's own tests of fibers and generators, alone and in a coroutine"
	@status=0; for way in --alone --inside; do \
	    $(suite) php-src tests/php-src/run $$way Zend/tests/fibers Zend/tests/generators || status=1; done; exit $$status

# The own tests of software in PHP, and pages of WordPress and phpMyAdmin: all of it takes about an hour.
.PHONY: test-applications
test-applications: build xtask
	@echo "== applications"
	@status=0; $(suite) applications tests/applications/run || status=1; $(suite) pages tests/applications/pages || status=1; \
	    $(suite) workers tests/applications/workers || status=1; $(suite) shared tests/applications/shared || status=1; exit $$status

.PHONY: test-applications-sample
test-applications-sample: build xtask
	@echo "== applications, a sample"
	@status=0; $(suite) applications tests/applications/run --sample || status=1; $(suite) pages tests/applications/pages --only wordpress || status=1; \
	    $(suite) workers tests/applications/workers --seeds 0 || status=1; $(suite) shared tests/applications/shared || status=1; exit $$status
