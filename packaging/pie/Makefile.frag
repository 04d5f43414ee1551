# Part of the Makefile that configure makes: 'make install' copies modules/*.so.

all: modules/spindle.so

install-modules: modules/spindle.so

# Cargo knows what is out of date.
.PHONY: modules/spindle.so
modules/spindle.so:
	cd "$(SPINDLE_ROOT)" && PHP_CONFIG="$(SPINDLE_PHP_CONFIG)" "$(SPINDLE_CARGO)" build --locked --release -p spindle-module
	mkdir -p "$(top_builddir)/modules"
	cd "$(SPINDLE_ROOT)" && strip --strip-unneeded -o "$(top_builddir)/modules/spindle.so" \
	    "$${CARGO_TARGET_DIR:-target}/release/libspindle.so"

# The header for authors of extensions, among PHP's own.
install-headers: install-spindle-header

.PHONY: install-spindle-header
install-spindle-header:
	@$(mkinstalldirs) "$(INSTALL_ROOT)$(phpincludedir)/ext/spindle"
	@$(INSTALL_DATA) "$(SPINDLE_ROOT)/include/spindle.h" "$(INSTALL_ROOT)$(phpincludedir)/ext/spindle/spindle.h"
