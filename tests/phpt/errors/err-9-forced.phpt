--TEST--
ERR-9 Asked twice, shutdown abandons who swallows it
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';

$stubborn = '$stubborn = function(string $name = "stubborn") { for ($n = 1; ; $n++) try { delay(600_000); echo "SLEPT\n"; } catch (Throwable $e) { echo "$name $n\n"; } };';
$run = function(string $name, string $code, float $grace = 0.05) use ($stubborn) {
    $ended = T\php("use Async\\Scope; use function Async\\{await, delay, spawn, suspend, protect, gracefulShutdown}; register_shutdown_function(fn() => print(\"shutdown\n\")); $stubborn\n$code", "-d async.zombie_coroutine_timeout=$grace -d display_errors=1 -d log_errors=0");
    echo "-- $name: ", preg_replace(['~, thrown at /\S+ in coroutine #\d+, spawned at /\S+~', '~ in /\S+~', '~#\d .*\n|Stack trace:\n|  (in|by|thrown|after) .*\n|\n(?=\n)~'], '', $ended), "\n";
    echo "\n";
};
$bad = 'function() { try { delay(600_000); } finally { throw new RuntimeException("second"); } }';
$run('first the one, then the other', "spawn(\$stubborn); spawn($bad); spawn(function() { delay(5); throw new DomainException('first'); });");
$run('first the other, then the one', "spawn($bad); spawn(\$stubborn); spawn(function() { delay(5); throw new DomainException('first'); });");
$run('gracefulShutdown()', 'spawn($stubborn); spawn(function() { suspend(); gracefulShutdown(); echo "once\n"; }); $s = new Scope; $s->spawn(function() { delay(40); gracefulShutdown(); echo "twice\n"; });', 600);
$run('the script itself', 'spawn(function() { suspend(); gracefulShutdown(); }); $s = new Scope; $s->spawn(function() { delay(40); gracefulShutdown(new LogicException("why")); }); $stubborn("main");', 600);
$run('an independent scope, protected, and gives way', '$s = new Scope; $s->spawn($stubborn, "independent"); $s->spawn(fn() => protect(fn() => $stubborn("protected")));
spawn(function() { while (true) try { suspend(); } catch (Throwable) { echo "turns\n"; } }); spawn(function() { suspend(); gracefulShutdown(); gracefulShutdown(); });');
$run('who is cleaning up', '$s = new Scope; $s->spawn(function() { try { delay(600_000); } finally { delay(5); echo "cleaned up\n"; } }); spawn(function() { suspend(); gracefulShutdown(); gracefulShutdown(); });');
?>
--EXPECT--
-- first the one, then the other: [255] stubborn 1
stubborn 2
Fatal error: Uncaught DomainException: first

Fatal error: Uncaught Async\CancellationException: cancelled by graceful shutdown because of an unhandled DomainException: first

Next RuntimeException: second
shutdown


-- first the other, then the one: [255] stubborn 1
Fatal error: Uncaught DomainException: first

Fatal error: Uncaught Async\CancellationException: cancelled by graceful shutdown because of an unhandled DomainException: first

Next RuntimeException: second
stubborn 2
shutdown


-- gracefulShutdown(): [0] once
stubborn 1
twice
stubborn 2
shutdown


-- the script itself: [255] main 1
main 2
Fatal error: Uncaught LogicException: why
shutdown


-- an independent scope, protected, and gives way: [0] turns
independent 1
protected 1
turns
independent 2
protected 2
shutdown


-- who is cleaning up: [0] cleaned up
shutdown


