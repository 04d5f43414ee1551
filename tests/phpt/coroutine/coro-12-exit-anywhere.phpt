--TEST--
CORO-12 exit ends the application at once wherever it stands: status, shutdown functions, and nobody else's finally
--FILE--
<?php
require __DIR__ . '/kit.inc';

$places = [
    'in a coroutine' => 'spawn(function() { exit(7); });',
    'with a text' => 'spawn(function() { exit("a text\n"); });',
    'nested callbacks' => 'spawn(function() { array_map(fn() => usort($GLOBALS["list"], fn() => exit(7)), [1]); });',
    'a generator' => 'spawn(function() { foreach ((function() { yield 1; suspend(); exit(7); })() as $x); });',
    'a destructor' => 'final class D { function __destruct() { suspend(); exit(7); } } spawn(function() { $d = new D; });',
    'an error handler' => 'spawn(function() { set_error_handler(fn() => exit(7)); echo $undefined; });',
    'finally, with an exception in flight' => 'spawn(function() { try { throw new Exception; } finally { suspend(); exit(7); } });',
    'onFinally' => 'spawn(fn() => 1)->onFinally(fn() => exit(7));',
    'protect' => 'spawn(fn() => Async\protect(function() { delay(5); exit(7); }));',
    'a fiber' => 'spawn(function() { (new Fiber(fn() => exit(7)))->start(); });',
    'an include' => 'spawn(function() { eval("Async\\\\suspend(); exit(7);"); });',
    'magic' => 'final class M { function __get($n) { delay(1); exit(7); } } spawn(fn() => (new M)->x);',
    'open buffers' => 'spawn(function() { ob_start(); echo "[buffered"; suspend(); ob_start(); echo " twice]\n"; exit(7); });',
    'while cancelled' => '$c = spawn(function() { try { delay(600_000); } finally { exit(7); } }); while (!$c->isStarted()) suspend(); $c->cancel();',
    'the script' => 'suspend(); exit(7);',
    'the script, after it waited' => 'await(spawn(fn() => delay(5))); exit(7);',
];
foreach ($places as $name => $code) {
    $ended = T\php(<<<PHP
        use function Async\{await, delay, spawn, suspend};
        \$list = [2, 1];
        register_shutdown_function(function() { echo "shutdown function"; });
        spawn(function() { try { delay(600_000); } finally { echo "FINALLY "; } });
        spawn(function() { try { suspend(); while (true) { usleep(500); suspend(); } } finally { echo "FINALLY "; } });
        $code
        sleep(600);
        echo "NOT REACHED ";
        PHP);
    echo "$name: ", str_replace("\n", ' ', $ended), "\n";
}
?>
--EXPECT--
in a coroutine: [7] shutdown function
with a text: [0] a text shutdown function
nested callbacks: [7] shutdown function
a generator: [7] shutdown function
a destructor: [7] shutdown function
an error handler: [7] shutdown function
finally, with an exception in flight: [7] shutdown function
onFinally: [7] shutdown function
protect: [7] shutdown function
a fiber: [7] shutdown function
an include: [7] shutdown function
magic: [7] shutdown function
open buffers: [7] [buffered twice] shutdown function
while cancelled: [7] shutdown function
the script: [7] shutdown function
the script, after it waited: [7] shutdown function
