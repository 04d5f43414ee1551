# Everything one does with Spindle. `make` alone lists it.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
# What runs at the same time is the business of `cargo xtask test`: one target after the other, also with -j.
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

# By a module of its own, without the HTTP server and with little optimization: compiling it is a quarter of the work, and what
# the page waits for takes as long.
.PHONY: demo
demo: ## an ordinary PHP page, plain and with Spindle (DEMO_SERVERS=1: also PostgreSQL, MariaDB, Redis)
	@scripts/setup demo
	@scripts/requirements
	$(CARGO) build --profile demo -p spindle-module --no-default-features
	@SPINDLE_EXTENSION=$(TARGET)/demo/libspindle.so $(PHP) examples/demo.php
	@echo "$(TARGET)/demo/libspindle.so is a quick build, without the HTTP server and most optimization: 'make build' makes the one to use."

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
build-faults: rust
	$(CARGO) build --release -p spindle-faults
	@mkdir -p build
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

# What the suites need, by two cargos at once: one links for minutes on one processor. What fails here is told by the suite that
# needs it.
.PHONY: compiled
compiled: rust
	@scripts/requirements
	@mkdir -p $(TARGET); { $(CARGO) build --quiet --release -p spindle-module -p spindle-launcher & \
	    $(CARGO) clippy --quiet --workspace --all-targets -- -D warnings; $(CARGO) nextest run --cargo-quiet --no-run --workspace; wait $$!; } >$(TARGET)/compiled.log 2>&1 || :

.PHONY: test
test: ## everything: installs what it needs, starts the servers it needs
	@scripts/setup test
	@$(MAKE) compiled
	@$(MAKE) -k lint suites

.PHONY: suites
suites: rust
	@$(CARGO) xtask test

# One suite: `cargo xtask test --list` says which there are. With options: `cargo xtask test NAME -- OPTION...`.
test-%: rust
	@$(CARGO) xtask test $*

.PHONY: lint
lint: rust
	@$(CARGO) fmt --version >/dev/null && $(CARGO) clippy --version >/dev/null || \
	    { echo "There is no rustfmt or no clippy: 'scripts/setup rust' installs them." >&2; exit 1; }
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path bench/hyper/Cargo.toml --check
	$(CARGO) fmt --manifest-path examples/extensions/http/Cargo.toml --check
	$(CARGO) fmt --manifest-path tests/authors/futures/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy --workspace --no-default-features -- -D warnings # the module of `make demo`
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
