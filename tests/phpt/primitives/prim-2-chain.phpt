--TEST--
PRIM-2 Future: map(), catch() and finally(): what they are called with, what their futures come to, exceptions on the way
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Future, FutureState};
use function Async\{await, currentCoroutine, spawn, suspend};

$ok = fn() => Future::completed(20);
$bad = fn() => Future::failed(new RuntimeException('failure'));
attempt('map', fn() => $ok()->map(fn(int $x) => $x + 1)->await());
attempt('map of a failure', fn() => $bad()->map(fn() => print("never\n"))->await());
attempt('map that throws', fn() => $ok()->map(fn($x) => throw new LogicException("with $x"))->await());
attempt('map to null', fn() => $ok()->map(function() {})->await());
attempt('catch', fn() => $bad()->catch(fn(RuntimeException $e) => "caught {$e->getMessage()}")->await());
attempt('catch of a result', fn() => $ok()->catch(fn() => print("never\n"))->await());
attempt('catch that throws', fn() => $bad()->catch(fn($e) => throw new LogicException('instead', 0, $e))->await());
attempt('finally', fn() => $ok()->finally(function(...$arguments) { echo count($arguments), " arguments\n"; return 'ignored'; })->await());
attempt('finally of a failure', fn() => $bad()->finally(function() { echo "called\n"; })->await());
attempt('finally that throws', fn() => $ok()->finally(fn() => throw new LogicException('of finally'))->await());
attempt('finally that throws after a failure', fn() => $bad()->finally(fn() => throw new LogicException('of finally'))->await());
attempt('one by one', fn() => $ok()->map(fn($x) => $x * 2)->map(fn($x) => $x > 30 ? throw new LengthException("$x is too much") : $x)->map(fn() => print("never\n"))
    ->catch(fn(LengthException $e) => $e->getMessage())->finally(function() { echo "finally\n"; })->map(strtoupper(...))->await());
attempt('wrong type for the callback', fn() => $ok()->map(fn(string ...$x) => $x)->map(fn(int $x) => $x)->catch(fn(TypeError $e) => get_class($e))->await());
attempt('internal function', fn() => $ok()->map('sqrt')->map('floor')->await());
attempt('one that suspends', fn() => $ok()->map(function($x) { suspend(); return $x + 1; })->await());
attempt('a future is a value', fn() => $ok()->map(fn() => Future::completed(1))->await() instanceof Future);
attempt('callbacks are called later', function() use ($ok) { $f = $ok()->map(function() { echo "called\n"; }); echo "chained\n"; $f->await(); });
attempt('in a coroutine of its own', fn() => $ok()->map(fn() => currentCoroutine())->await() !== currentCoroutine());

// several of one future
$s = new FutureState;
$f = new Future($s);
$all = [];
foreach (['a', 'b', 'c'] as $name) {
    $all[] = $f->map(fn($x) => "$name gets $x\n");
}
$s->complete('x');
foreach ($all as $each) echo $each->await();

// a callback that is cancelled, before and after it has begun
$ran = null;
$s = new FutureState;
$mapped = (new Future($s))->map(function() use (&$ran) { $ran = currentCoroutine(); Async\delay(60000); });
$s->complete();
while (!$ran) suspend();
$ran->cancel();
attempt('cancelled', fn() => $mapped->await());
$mapped = Future::completed()->map(fn() => print("never\n"));
foreach (Async\getCoroutines() as $co) {
    if ($co !== currentCoroutine()) $co->cancel();
}
attempt('cancelled before it began', fn() => $mapped->await());
// the next in the chain goes on
attempt('chain', fn() => $mapped->catch(fn($e) => get_class($e))->await());
// who waits may be cancelled: the chain goes on
$s = new FutureState;
$mapped = (new Future($s))->map(fn($x) => "got $x");
T\begun($waiter = spawn(fn() => $mapped->await()));
$waiter->cancel();
$s->complete('it');
attempt('waiter', fn() => await($waiter));
attempt('mapped', fn() => $mapped->await());
?>
--EXPECTF--
map: 21
map of a failure: RuntimeException: failure
map that throws: LogicException: with 20
map to null: null
catch: "caught failure"
catch of a result: 20
catch that throws: LogicException: instead after RuntimeException: failure
0 arguments
finally: 20
called
finally of a failure: RuntimeException: failure
finally that throws: LogicException: of finally
finally that throws after a failure: LogicException: of finally after RuntimeException: failure
finally
one by one: "40 IS TOO MUCH"
wrong type for the callback: "TypeError"
internal function: 4
one that suspends: 21
a future is a value: true
chained
called
callbacks are called later: null
in a coroutine of its own: true
a gets x
b gets x
c gets x
cancelled: Async\CancellationException: cancelled at %s:44
cancelled before it began: Async\CancellationException: The coroutine of a callback of this future was cancelled before it began
chain: "Async\\CancellationException"
waiter: Async\CancellationException: cancelled at %s:57
mapped: "got it"
