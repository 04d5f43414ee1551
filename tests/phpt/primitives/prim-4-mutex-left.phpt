--TEST--
PRIM-4 Mutex: an error handler that is called for one that was left locked may throw, suspend and lock it again
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Mutex;
use function Async\{await, spawn, suspend};

$m = new Mutex;
$leave = fn() => spawn(function() use ($m) { $m->lock(); });
set_error_handler(fn() => throw new LogicException('from the handler'));
attempt('throws', fn() => await($leave()));
restore_error_handler();
set_error_handler(function() { suspend(); suspend(); echo "suspended\n"; return true; });
attempt('suspends', fn() => await($leave()));
restore_error_handler();
set_error_handler(function(int $level, string $text) use ($m) { $m->lock(); echo "locked again\n"; return true; });
ob_start();
attempt('locks it again', fn() => await($leave()));
echo preg_replace('~#\d+~', '#N', ob_get_clean());
restore_error_handler();
attempt('unlocked', fn() => $m->isLocked());
attempt('its own callbacks may use it', function() use ($m) {
    $c = spawn(fn() => 1);
    $c->onFinally(function() use ($m, &$called) { $m->with(function() use (&$called) { echo "with it\n"; $called = true; }); });
    await($c);
    while (!$called) suspend();
    return $m->isLocked();
});
?>
--EXPECTF--
throws: LogicException: from the handler
suspended
suspends: null
locked again

Warning: Coroutine #4 has ended without unlocking the mutex that it locked at %s:14 in %s on line 14
locks it again: null
unlocked: false
with it
its own callbacks may use it: false
