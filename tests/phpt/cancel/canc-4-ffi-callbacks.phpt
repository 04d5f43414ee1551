--TEST--
CANC-4 a cancellation in a callback of C code that FFI has called is held off until the C code has returned
--EXTENSIONS--
ffi
--INI--
ffi.enable=1
--FILE--
<?php
use function Async\{await, delay, spawn};

require __DIR__ . '/kit.inc';

$libc = FFI::cdef('
    typedef int (*compare)(const int *, const int *);
    struct table { compare function; };
    void qsort(int *, size_t, size_t, compare);
');
$sleep = fn() => T\turns(5);
$values = fn($list) => array_map(fn($i) => $list[$i], range(0, count($list) - 1));
$calls = 0;
$compare = function($a, $b) use (&$sleep, &$calls) { $calls++; $sleep(); return $a[0] <=> $b[0]; };
$early = $libc->new('struct table');
$early->function = $compare; // before the first spawn

foreach (['made before' => $early, 'made by the call' => null] as $name => $made) {
    foreach (['delay' => fn() => T\turns(5), 'a file' => fn() => usleep(5000), 'another' => fn() => await(spawn(fn() => T\turns(5)))] as $how => $sleep) {
        $calls = 0;
        $list = $libc->new('int[4]');
        foreach ([3, 1, 2, 0] as $i => $n) $list[$i] = $n;
        $reached = 'not begun';
        $sorter = spawn(function() use ($libc, $list, $made, $compare, &$reached) {
            $reached = 'in the call';
            try {
                $libc->qsort($list, 4, 4, $made ? $made->function : $compare);
                $reached = 'behind the call';
            } finally {
                $reached .= ', cleaned up';
            }
        });
        T\until(function() use (&$calls) { return $calls > 0; });
        $sorter->cancel();
        $e = T\failure($sorter);
        T\check("$name, $how", $e instanceof Async\CancellationException && $values($list) === [0, 1, 2, 3] && $reached === 'in the call, cleaned up',
            [$e::class, $values($list), $reached]);
    }
}

// nothing is left of it
$sleep = fn() => null;
$list = $libc->new('int[2]');
$list[0] = 2;
await(spawn(fn() => $libc->qsort($list, 2, 4, $compare)));
echo implode(' ', $values($list)), "\n";
$cancelled = spawn(fn() => delay(600_000));
T\parked($cancelled);
$cancelled->cancel();
echo get_class(T\failure($cancelled)), "\n";
?>
--EXPECT--
made before, delay: yes
made before, a file: yes
made before, another: yes
made by the call, delay: yes
made by the call, a file: yes
made by the call, another: yes
0 2
Async\CancellationException
