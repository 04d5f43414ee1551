--TEST--
H15 nobody else runs while the engine holds signals back
--EXTENSIONS--
ffi
--SKIPIF--
<?php
ob_start();
phpinfo(INFO_GENERAL);
if (!preg_match('/Zend Signal Handling => enabled/', ob_get_clean())) die('skip this engine holds no signals back');
?>
--INI--
ffi.enable=1
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

// the struct begins with the count
$engine = FFI::cdef('extern int zend_signal_globals;');
$ticks = new T\Ticks(1);
[$a, $b] = T\pair();
T\parked(spawn(fn() => null));
[$before, $slept, $later] = await(spawn(function() use ($engine, $ticks, $a, $b) {
    $engine->zend_signal_globals++;
    $before = $ticks->count;
    usleep(30_000);
    fwrite($b, "line\n");
    fgets($a);
    $slept = $ticks->count;
    $engine->zend_signal_globals--;
    $ticks->more(1);
    return [$before, $slept, $ticks->count];
}));
T\check('held', $slept === $before, [$before, $slept]);
T\check('not held', $later > $slept, [$slept, $later]);
$ticks->stop();
?>
--EXPECT--
held: yes
not held: yes
