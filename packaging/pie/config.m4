dnl What phpize makes a configure of. It compiles nothing itself: cargo does, from the sources two folders up.

PHP_ARG_ENABLE([spindle],
  [whether to build Spindle],
  [AS_HELP_STRING([--enable-spindle], [Build Spindle (needs cargo, a C compiler, clang and libclang)])],
  [yes])

PHP_ARG_WITH([spindle-cargo],
  [for cargo],
  [AS_HELP_STRING([--with-spindle-cargo=FILE], [The cargo to build Spindle with, if it is not on the PATH])],
  [no],
  [no])

if test "$PHP_SPINDLE" != "no"; then
  SPINDLE_ROOT=$(cd "$abs_srcdir/../.." && pwd)
  case $PHP_SPINDLE_CARGO in
    no|yes) SPINDLE_CARGO=$(command -v cargo || echo "$HOME/.cargo/bin/cargo") ;;
    *) SPINDLE_CARGO=$PHP_SPINDLE_CARGO ;;
  esac
  SPINDLE_PHP_CONFIG=$(command -v "$PHP_CONFIG")

  AC_MSG_CHECKING([for what Spindle needs])
  if spindle_missing=$(CARGO="$SPINDLE_CARGO" "$SPINDLE_ROOT/scripts/requirements" "$SPINDLE_PHP_CONFIG" 2>&1); then
    AC_MSG_RESULT([all there])
  else
    AC_MSG_RESULT([not all there])
    AC_MSG_ERROR([$spindle_missing])
  fi

  PHP_SUBST([SPINDLE_ROOT])
  PHP_SUBST([SPINDLE_CARGO])
  PHP_SUBST([SPINDLE_PHP_CONFIG])
  PHP_ADD_BUILD_DIR([$abs_builddir/modules])
  PHP_ADD_MAKEFILE_FRAGMENT([$abs_srcdir/Makefile.frag], [$abs_srcdir], [$abs_builddir])
fi
