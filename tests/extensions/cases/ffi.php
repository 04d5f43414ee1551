<?php
// ini: ffi.enable=1
namespace Matrix;

$libc = static fn() => \FFI::cdef('typedef int (*order)(const void *, const void *); void qsort(void *base, size_t n, size_t size, order by); size_t strlen(const char *s); int usleep(unsigned us);', 'libc.so.6');
check('qsort', static function ($c, int $n) {
    $array = \FFI::new('int[6]');
    foreach ([5, 3, 8, 1, 9, 2] as $i => $x) $array[$i] = $x;
    $c->qsort($array, 6, 4, static function ($a, $b) use ($n) { pause(); return (\FFI::cast('int *', $a)[0] <=> \FFI::cast('int *', $b)[0]) * (3 - 2 * $n); });
    return \array_map(static fn($i) => $array[$i], \range(0, 5));
}, $libc, anywhere: true);
check('FFI::cdef', static fn($_, int $n) => \FFI::cdef(text("typedef int t$n; size_t strlen(const char *s);"), text('libc.so.6'))->strlen("abc$n"), in: 'FFI::cdef');
check('FFI::cdef, wrong', static fn($_, int $n) => noisily(fn() => \FFI::cdef(text("nonsense $n"))), in: 'FFI::cdef');
check('FFI::new', static fn($c, int $n) => $c->new(text("int[$n]"))[0], $libc, in: 'FFI::new');
check('FFI::string', static fn($_, int $n) => noisily(fn() => \FFI::string(\FFI::new('char[5]'), $n + 0.5)), in: 'FFI::string');
