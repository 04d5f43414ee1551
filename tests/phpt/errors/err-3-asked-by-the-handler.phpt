--TEST--
ERR-3 an exception handler that asks for a graceful shutdown is not called again for it: PHP reports, status 255; in a shutdown function, too
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';

$handler = <<<'X'
    set_exception_handler(function($e) {
        static $calls = 0;
        echo 'handler: ', $e->getMessage(), "\n";
        if (++$calls > 2) { echo "again and again\n"; exit(9); }
        BODY
    });
    X;
$lost = <<<'X'
    spawn(function() { suspend(); throw new Exception('lost'); });
    spawn(function() { try { delay(600_000); } finally { delay(1); echo "cleaned up\n"; } });
    X;
$several = <<<'X'
    foreach ([1, 2, 3] as $n) {
        spawn(function() use ($n) { try { delay(600_000); } catch (Throwable) { throw new Exception("cleanup $n"); } });
    }
    X . $lost;
$codes = [
    'the same' => ['gracefulShutdown($e);', $lost],
    'twice' => ['gracefulShutdown($e); gracefulShutdown($e);', $lost],
    'wrapped' => ['gracefulShutdown(new LogicException("wrapped", 0, $e));', $lost],
    'another one' => ['gracefulShutdown(new LogicException("another one"));', $lost],
    'its previous one' => ['gracefulShutdown($e->getPrevious());', 'spawn(fn() => throw new Exception("outer", 0, new Exception("inner")));'],
    'none' => ['gracefulShutdown();', $lost],
    'another handler' => ['set_exception_handler(fn($e) => print("inner handler\n")); gracefulShutdown($e);', $lost],
    'and exits' => ['gracefulShutdown($e); exit(3);', $lost],
    'exits, three times' => ['exit(3);', $several],
    'throws' => ['throw new LogicException("of the handler", 0, $e);', '$s = new Scope; $s->spawn(function() { T\turns(); echo "independent\n"; });' . $lost],
    'dies' => ['error_reporting(E_ALL & ~E_DEPRECATED); trigger_error("on purpose", E_USER_ERROR);', $several],
    'in a coroutine' => ['spawn(function() use ($e) { gracefulShutdown($e); });', '$s = new Scope; $s->spawn(function() { T\turns(); echo "independent\n"; });' . $lost],
    'in a coroutine, wrapped' => ['spawn(function() use ($e) { gracefulShutdown(new LogicException("wrapped", 0, $e)); });', '$s = new Scope; $s->spawn(function() { T\turns(); echo "independent\n"; });' . $lost],
    'of the script' => ['gracefulShutdown($e);', 'spawn(fn() => 1); throw new Exception("of the script");'],
    'nothing was spawned' => ['gracefulShutdown($e);', 'throw new Exception("of the script");'],
    // A failure of its own is the handler's, whatever it has wrapped on the way.
    'one that wraps a cancellation' => ['', $lost . 'spawn(function() { try { delay(600_000); } catch (Throwable $e) { throw new DomainException("wraps", 0, $e); } });'],
    'one that wraps a cancellation, asked with' => ['$GLOBALS["handled"] = true;', '$s = new Scope; $s->spawn(fn() => suspend()); ' . $lost . '
        spawn(function() { try { delay(600_000); } catch (Throwable $e) { while (!isset($GLOBALS["handled"])) delay(1); gracefulShutdown(new DomainException("wraps", 0, $e)); } });'],
    'not in the handler' => ['', '$e = new Exception("asked for"); gracefulShutdown($e); gracefulShutdown($e);'],
    'cleanups are not cut short' => ['gracefulShutdown($e);', '$s = new Scope; $s->spawn(fn() => suspend()); ' . $lost . '
        spawn(function() { try { delay(600_000); } finally { while (!isset($GLOBALS["handled"])) delay(1); T\turns(); echo "cleaned up\n"; } });'],
    'shutdown function' => ['', 'register_shutdown_function(function() { gracefulShutdown(new Exception("at the end")); echo "goes on\n"; }); spawn(fn() => 1);'],
    'shutdown function, nothing was spawned' => ['', 'register_shutdown_function(function() { gracefulShutdown(new Exception("at the end")); });'],
    'shutdown function after exit' => ['', 'register_shutdown_function(function() { gracefulShutdown(new Exception("at the end")); }); spawn(fn() => 1); exit(3);'],
    'shutdown function, no exception' => ['', 'register_shutdown_function(fn() => gracefulShutdown()); spawn(fn() => 1);'],
    'destructor' => ['', 'class D { function __destruct() { gracefulShutdown(new Exception("at the end")); } } $d = new D; spawn(fn() => 1);'],
];
foreach ($codes as $name => [$body, $code]) {
    $ended = T\php('require ' . var_export(__DIR__ . '/kit.inc', true) . '; use Async\Scope; use function Async\{await, delay, gracefulShutdown, spawn, suspend};
        register_shutdown_function(fn() => print("shut down\n"));' . str_replace('BODY', "\$GLOBALS['handled'] = true; $body", $handler) . $code);
    $text = preg_replace(['~PHP Fatal error: .*?thrown in .*?\n~s', '~ in /\S+~', '~(spawned at|by) .*~', '~#\d .*\n|Stack trace:\n|  thrown .*\n|\n(?=\n)|^\n~'], ['', '', '$1', ''], $ended->output);
    echo "-- $name: [$ended->status]\n$text";
}
?>
--EXPECT--
-- the same: [255]
cleaned up
handler: lost
Fatal error: Uncaught Exception: lost
  in coroutine #2, spawned at
shut down
-- twice: [255]
cleaned up
handler: lost
Fatal error: Uncaught Exception: lost
  in coroutine #2, spawned at
shut down
-- wrapped: [255]
cleaned up
handler: lost
Fatal error: Uncaught Exception: lost

Next LogicException: wrapped
  in coroutine #2, spawned at
shut down
-- another one: [255]
cleaned up
handler: lost
Fatal error: Uncaught LogicException: another one
  in coroutine #2, spawned at
shut down
-- its previous one: [255]
handler: outer
Fatal error: Uncaught Exception: inner
  in coroutine #2, spawned at
shut down
-- none: [255]
cleaned up
handler: lost
shut down
-- another handler: [255]
cleaned up
handler: lost
Fatal error: Uncaught Exception: lost
  in coroutine #2, spawned at
shut down
-- and exits: [3]
cleaned up
handler: lost
Fatal error: Uncaught Exception: lost
  in coroutine #2, spawned at
shut down
-- exits, three times: [3]
handler: lost
handler: cleanup 1
Fatal error: Uncaught Exception: cleanup 2
  in coroutine #3, spawned at

Fatal error: Uncaught Exception: cleanup 3
  in coroutine #4, spawned at
shut down
-- throws: [255]
handler: lost
Fatal error: Uncaught Exception: lost

Next LogicException: of the handler
  in coroutine #3, spawned at
cleaned up
independent
shut down
-- dies: [255]
handler: lost
Fatal error: on purpose on line 7
Fatal error: Uncaught Exception: cleanup 1
  in coroutine #2, spawned at

Fatal error: Uncaught Exception: cleanup 2
  in coroutine #3, spawned at

Fatal error: Uncaught Exception: cleanup 3
  in coroutine #4, spawned at
shut down
-- in a coroutine: [255]
handler: lost
Fatal error: Uncaught Exception: lost
  in coroutine #6, spawned at
cleaned up
independent
shut down
-- in a coroutine, wrapped: [255]
handler: lost
Fatal error: Uncaught LogicException: wrapped
  after Exception: lost
  in coroutine #6, spawned at
cleaned up
independent
shut down
-- of the script: [255]
handler: of the script
Fatal error: Uncaught Exception: of the script
shut down
-- nothing was spawned: [255]
handler: of the script
Fatal error: Uncaught Exception: of the script
shut down
-- one that wraps a cancellation: [255]
handler: lost
handler: wraps
shut down
-- one that wraps a cancellation, asked with: [255]
cleaned up
handler: lost
handler: wraps
shut down
-- not in the handler: [255]
handler: asked for
shut down
-- cleanups are not cut short: [255]
cleaned up
handler: lost
Fatal error: Uncaught Exception: lost
  in coroutine #3, spawned at
cleaned up
shut down
-- shutdown function: [255]
shut down
Fatal error: Uncaught Exception: at the end
goes on
-- shutdown function, nothing was spawned: [255]
shut down
Fatal error: Uncaught Exception: at the end
-- shutdown function after exit: [255]
shut down
Fatal error: Uncaught Exception: at the end
-- shutdown function, no exception: [0]
shut down
-- destructor: [255]
shut down
Fatal error: Uncaught Exception: at the end
