PHP_ARG_ENABLE([queue],
  [whether to enable the example of a queue],
  [AS_HELP_STRING([--enable-queue], [Enable Acme\Queue])],
  [yes])

if test "$PHP_QUEUE" != "no"; then
  dnl spindle.h is where 'make install' puts it, among PHP's own headers; CPPFLAGS may name another folder.
  PHP_NEW_EXTENSION([queue], [queue.c broker.c], [$ext_shared])
fi
