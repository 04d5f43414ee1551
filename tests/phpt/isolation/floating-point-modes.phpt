--TEST--
Each coroutine has its own modes of floating-point arithmetic, those of either unit
--EXTENSIONS--
ffi
--INI--
ffi.enable=1
--SKIPIF--
<?php if (php_uname('m') !== 'x86_64') die('skip the two units are those of x86-64'); ?>
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$libm = FFI::cdef('int fegetenv(void *); int fesetenv(const void *); int fegetround(void);', 'libm.so.6');

/** Sets bits of the environment: byte 1 is in the control word of x87, byte 29 in mxcsr. */
$set = static function (int $byte, int $bits) use ($libm): void {
    $environment = $libm->new('unsigned char[32]');
    $libm->fegetenv($environment);
    $environment[$byte] |= $bits;
    $libm->fesetenv($environment);
};
/** What the units do: the mode of x87, and a quotient of SSE. */
$works = static function (float $one, float $three) use ($libm): string {
    return sprintf('%x %.17f', $libm->fegetround(), $one / $three);
};
$task = static function (int $byte, int $bits) use ($set, $works): array {
    if ($bits) $set($byte, $bits);
    $seen = [];
    for ($i = 0; $i < 3; $i++) {
        suspend();
        $seen[] = $works(1.0, 3.0);
    }
    return array_unique($seen);
};
$nearest = $works(1.0, 3.0);
// each is resumed after one that differs from it in one word, in the other one, and in both
$of_x87 = [1, 0x08];
$of_sse = [29, 0x40];
$all = [];
foreach ([[0, 0], $of_x87, [0, 0], $of_sse, $of_x87, $of_sse, [0, 0]] as $modes) $all[] = [$modes, spawn($task, ...$modes)];
foreach ($all as [$modes, $coroutine]) {
    $expected = match ($modes) {
        $of_x87 => '800 ' . substr($nearest, 2),
        $of_sse => '0 0.33333333333333337',
        default => $nearest,
    };
    T\check('the modes of ' . json_encode($modes), await($coroutine) === [$expected], [await($coroutine), $expected]);
}
// nor does one begin with those of one that has ended
foreach ([$of_x87, $of_sse] as $modes) {
    $ended = spawn($set, ...$modes);
    $next = spawn($works, 1.0, 3.0);
    T\check('one that begins after ' . json_encode($modes), await($next) === $nearest && $ended->isCompleted(), await($next));
}
T\check('those of main', $works(1.0, 3.0) === $nearest, $works(1.0, 3.0));
--EXPECT--
the modes of [0,0]: yes
the modes of [1,8]: yes
the modes of [0,0]: yes
the modes of [29,64]: yes
the modes of [1,8]: yes
the modes of [29,64]: yes
the modes of [0,0]: yes
one that begins after [1,8]: yes
one that begins after [29,64]: yes
those of main: yes
