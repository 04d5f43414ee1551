--TEST--
CANC-4 a cancellation passes through sorting, callbacks, generators, buffers and fibers, and leaves them usable
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in(['sleeps.php' => '<?php sleep(600); echo "NOT REACHED\n";']);

final class Asleep
{
    public function __sleep() { delay(600_000); return []; }
}

$through = [
    'usort' => function() { $a = range(1, 20); usort($a, function($x, $y) { delay(600_000); return $x <=> $y; }); },
    'array_map' => fn() => array_map(fn() => delay(600_000), range(1, 100)),
    'array_walk' => function() { $a = [1, 2, 3]; array_walk($a, fn(&$x) => delay(600_000)); },
    'preg_replace_callback' => fn() => preg_replace_callback('/./', fn() => delay(600_000) ?? '', 'abc'),
    'generator' => function() { foreach ((function() { try { yield 1; delay(600_000); yield 2; } finally { suspend(); } })() as $x); },
    'output buffer' => function() { ob_start(); echo 'lost?'; try { delay(600_000); } finally { ob_end_clean(); } },
    'fiber' => fn() => (new Fiber(function() { try { delay(600_000); } finally { suspend(); } }))->start(),
    'autoload' => function() { spl_autoload_register(fn() => delay(600_000)); new Missing; },
    'iterator' => fn() => iterator_to_array((function() { yield from (function() { yield 1; usleep(600_000_000); })(); })()),
    '__toString' => fn() => 'x' . new class { function __toString(): string { sleep(600); return ''; } },
    'serialize' => fn() => serialize(new Asleep),
    'include' => fn() => require 'sleeps.php',
];
foreach ($through as $name => $task) {
    $c = spawn($task);
    T\parked($c);
    $c->cancel();
    echo "$name: ", get_class(T\failure($c)), "\n";
}
$a = [3, 1, 2];
usort($a, fn($x, $y) => $x <=> $y);
array_walk($a, function(&$x) { $x *= 2; });
echo json_encode($a), preg_replace_callback('/b/', fn() => 'B', 'abc'), serialize(1), ob_get_level(), "\n";
?>
--EXPECT--
usort: Async\CancellationException
array_map: Async\CancellationException
array_walk: Async\CancellationException
preg_replace_callback: Async\CancellationException
generator: Async\CancellationException
output buffer: Async\CancellationException
fiber: Async\CancellationException
autoload: Async\CancellationException
iterator: Async\CancellationException
__toString: Async\CancellationException
serialize: Async\CancellationException
include: Async\CancellationException
[2,4,6]aBci:1;0
