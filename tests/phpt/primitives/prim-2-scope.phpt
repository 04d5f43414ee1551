--TEST--
PRIM-2 Future: callbacks run in the scope of who asked for them, whoever completes the future
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Future, FutureState, Scope};
use function Async\{await, currentScope, spawn, suspend};

$mine = new Scope;
$s = new FutureState;
$f = new Future($s);
$mapped = await($mine->spawn(fn() => $f->map(fn() => currentScope() === $mine)));
$other = new Scope;
await($other->spawn(fn() => $s->complete()));
attempt('my scope', fn() => $mapped->await());

// that of who completes it may be cancelled
$s = new FutureState;
$mapped = (new Future($s))->map(fn($x) => "got $x");
$other = new Scope;
$other->spawn(function() use ($s, $other) { $other->cancel(); $s->complete('it'); });
attempt('from a cancelled scope', fn() => $mapped->await());
// and mine, before and after the callback has begun
$mine = new Scope;
$s = new FutureState;
$mapped = await($mine->spawn(fn() => (new Future($s))->map(fn() => print("never\n"))));
$mine->cancel();
$s->complete();
attempt('my scope is closed', fn() => $mapped->await());
$mine = new Scope;
$begun = new ArrayObject;
$mapped = await($mine->spawn(fn() => Future::completed()->map(function() use ($begun) { $begun[] = 1; Async\delay(60000); echo "never\n"; })));
while (!count($begun)) suspend();
$mine->cancel();
attempt('my scope is cancelled', fn() => $mapped->await());
// it is gone
$mine = new Scope;
$s = new FutureState;
$mapped = await($mine->spawn(fn() => (new Future($s))->map(fn() => print("never\n"))));
unset($mine);
$s->complete();
attempt('my scope is gone', fn() => $mapped->await());
// the callback is no child of who completes it
$s = new FutureState;
$mapped = (new Future($s))->map(function() { for ($i = 0; $i < 5; $i++) suspend(); return 'not cancelled with it'; });
$top = new Scope(Async\Lifetime::TopDown);
await($top->spawn(fn() => $s->complete()));
attempt('no child', fn() => $mapped->await());
?>
--EXPECTF--
my scope: true
from a cancelled scope: "got it"
my scope is closed: Async\AsyncException: Coroutine scope is closed
my scope is cancelled: Async\CancellationException: cancelled at %s:31
my scope is gone: Async\AsyncException: Coroutine scope is closed
no child: "not cancelled with it"
