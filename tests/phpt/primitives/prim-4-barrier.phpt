--TEST--
PRIM-4 Barrier: opens for all at once, again and again; one that is cancelled has not come
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Barrier, Channel};
use function Async\{await, spawn, timeout};

$b = new Barrier(parties: 3);
for ($round = 1; $round <= 3; $round++) {
    T\begun($one = spawn(fn() => $b->await()), $two = spawn(fn() => $b->await(cancellation: null)));
    attempt("round $round", fn() => [$b->waiting(), $b->await(), $b->waiting(), await($one), await($two)]);
}
attempt('none', fn() => new Barrier(0));
attempt('negative', fn() => new Barrier(-3));
attempt('of one', fn() => [(new Barrier(1))->await(), (new Barrier(1))->waiting()]);
attempt('token', fn() => $b->await(timeout(1)));
attempt('not counted', fn() => $b->waiting());
T\begun($one = spawn(fn() => $b->await()), $two = spawn(fn() => $b->await()));
$one->cancel();
attempt('cancelled, not run', fn() => $b->waiting());
T\begun($three = spawn(fn() => $b->await()));
attempt('opens', fn() => [$b->await(), await($two), await($three)]);
attempt('cancelled', fn() => await($one));
// one for which it has opened has come, even if it is cancelled before it runs
T\begun($one = spawn(function() use ($b, &$came) { $came = $b->await(); Async\suspend(); return 'never'; }), $two = spawn(fn() => $b->await()));
$b->await();
$one->cancel();
attempt('cancelled later', fn() => await($one));
attempt('but it had come', fn() => [$came, await($two), $b->waiting()]);
// many
$b = new Barrier(1000);
$all = [];
for ($i = 0; $i < 3000; $i++) {
    $all[] = spawn(fn() => $b->await());
}
attempt('three times a thousand', fn() => [array_sum(array_map('intval', T\all($all))), $b->waiting()]);
?>
--EXPECTF--
round 1: [2,true,0,false,false]
round 2: [2,true,0,false,false]
round 3: [2,true,0,false,false]
none: ValueError: Async\Barrier::__construct(): Argument #1 ($parties) must be at least 1
negative: ValueError: Async\Barrier::__construct(): Argument #1 ($parties) must be at least 1
of one: [true,0]
token: Async\TimeoutException: The wait was given up after 1 ms
not counted: 0
cancelled, not run: 1
opens: [true,false,false]
cancelled: Async\CancellationException: cancelled at %s:17
cancelled later: Async\CancellationException: cancelled at %s:25
but it had come: [false,false,0]
three times a thousand: [3,0]
