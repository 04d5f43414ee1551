PHP_ARG_ENABLE([queue],
  [whether to enable the example of a queue],
  [AS_HELP_STRING([--enable-queue], [Enable Acme\Queue])],
  [yes])

if test "$PHP_QUEUE" != "no"; then
  dnl Among PHP's own headers is where 'make install' puts spindle.h; CPPFLAGS may name another folder.
  PHP_ADD_INCLUDE([$phpincludedir/ext/spindle])
  PHP_NEW_EXTENSION([queue], [queue.c broker.c], [$ext_shared])
fi
