--TEST--
GRP-1 group(): results, arguments, failures and cancellations in every state, what is inside of it
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, CoroutineGroup, Mutex, Scope};
use function Async\{await, awaitAll, currentCoroutine, currentScope, delay, getCoroutines, group, localContext, spawn, suspend};

function for_ever(): void { delay(100_000); }
$warnings = 0;
set_error_handler(function($level, $text) use (&$warnings) { echo '  warning: ', preg_replace('~ in \S+:\d+, .*~', '', $text), "\n"; $warnings++; });

attempt('a result', fn() => group(fn() => 7));
attempt('arguments', fn() => group(fn(int $a, int ...$more) => [$a, ...$more], 1, 2, 3));
attempt('named', fn() => group(fn($a, $b) => [$a, $b], b: 1, a: 2));
attempt('internal', fn() => group('strlen', 'abc'));
attempt('unknown name', fn() => group(fn($a) => $a, a: 1, c: 2));
attempt('too few', fn() => group(fn($a) => $a, ...[]) || true);
attempt('no callable', fn() => group('nothing'));
attempt('none', fn() => group());
$value = 1;
attempt('by reference', function() use (&$value) { group(function(&$it) { $it = 2; }, $value); return $value; });
attempt('nested', fn() => group(fn() => group(fn() => group(fn() => 'deep'))));

echo "-- it acts as its caller\n";
$me = currentCoroutine();
$mutex = new Mutex;
localContext()->set('key', 'value');
attempt('itself, context, lock', fn() => $mutex->with(fn() => group(function() use ($me, $mutex) {
    try { $mutex->lock(); } catch (Async\AsyncException) { echo "  locked by the caller\n"; }
    $mutex->unlock();
    $mutex->lock();
    return [currentCoroutine() === $me, localContext()->find('key')];
})));
attempt('what it spawns does not', fn() => group(fn() => await(spawn(fn() => [currentCoroutine() === $me, localContext()->find('key')]))));

$place = fn(Closure $block) => function() use ($block) { try { $block(); } catch (Async\AsyncException $e) { return preg_replace('~\. Coroutine spawned.*~', '', $e->getMessage()); } };
attempt('it cannot await its caller', $place(fn() => group(fn() => await(currentCoroutine()))));
attempt('nor with others', $place(fn() => group(fn() => awaitAll([currentCoroutine()]))));
attempt('nor one above', $place(fn() => group(fn() => group(fn() => await($me)))));
attempt('nor a block above', $place(fn() => group(fn() => group(function() use ($me) {
    foreach (getCoroutines() as $block) if ($block !== $me && ($block->getAwaitingInfo()['call'] ?? '') === 'group') await($block);
}))));
attempt('nor their group', $place(function() {
    $all = new CoroutineGroup;
    $all->add(spawn(function() use ($all) { suspend(); group(fn() => await($all)); }));
    await($all);
}));
attempt('what it spawns can await the block', fn() => group(function() use ($me) {
    foreach (getCoroutines() as $block) if ($block->isRunning()) spawn(fn() => print('  ' . await($block) . "\n"));
    return 'the block';
}));
echo "-- waits for all\n";
attempt('spawned by what it has spawned', function() {
    $done = 0;
    group(function() use (&$done) { spawn(function() use (&$done) { suspend(); spawn(function() use (&$done) { suspend(); $done++; }); $done++; }); });
    return $done;
});
attempt('not for other scopes', function() {
    $other = new Scope;
    $waits = null;
    group(function() use ($other, &$waits) { $waits = $other->spawn(for_ever(...)); T\parked($waits); });
    $still = !$waits->isCompleted();
    $waits->cancel();
    T\ended($waits);
    return $still;
});
$kept = null;
attempt('its scope is closed then', function() use (&$kept) { group(function() use (&$kept) { $kept = currentScope(); }); $kept->spawn(fn() => 1); });
echo json_encode([$kept->isFinished(), $kept->isClosed(), $kept->isCancelled(), $kept->getParentScope() === currentScope()]), "\n";

echo "-- failures\n";
attempt('the block', fn() => group(function() { spawn(for_ever(...)); suspend(); throw new DomainException('of the block'); }));
attempt('a child', fn() => group(function() { spawn(fn() => throw new DomainException('of a child')); for_ever(); }));
attempt('a child whose object is held', fn() => group(function() { $held = spawn(fn() => throw new DomainException('held')); for_ever(); }));
attempt('one that is awaited and caught', fn() => group(function() { try { await(spawn(fn() => throw new DomainException('caught'))); } catch (DomainException) { return 'none'; } }));
attempt('one that a handler takes', fn() => group(function() {
    currentScope()->setExceptionHandler(fn($e) => print("  handled: {$e->getMessage()}\n"));
    await(spawn(fn() => suspend()));
    T\ended(spawn(fn() => throw new DomainException('for the handler')));
    return 'none';
}));
attempt('an inner one passes outwards', fn() => group(function() { spawn(fn() => group(fn() => throw new DomainException('inner'))); for_ever(); }));
$second = function(&$scope) {
    return function() use (&$scope) {
        $scope = currentScope();
        T\parked(spawn(function() { try { for_ever(); } finally { throw new LogicException('a later one'); } }));
        throw new DomainException('the first');
    };
};
attempt('later ones are asked for', function() use ($second) {
    try { group($second($scope)); } catch (DomainException $e) { return array_map(fn($e) => $e->getMessage(), [$e, ...$scope->getErrors()]); }
});
$warnings = 0;
attempt('or warned of', fn() => group($second($scope)));
T\until(function() use (&$warnings) { return $warnings === 1; });

echo "-- cancellation\n";
function cancelled(string $what, Closure $block, Closure $until): void
{
    $caller = spawn(fn() => group($block));
    $until($caller);
    $caller->cancel(new CancellationException('by the test'));
    attempt($what, fn() => await($caller));
}
cancelled('before its start', fn() => print("never\n"), fn() => null);
cancelled('while it waits', function() { T\begun(spawn(function() { try { for_ever(); } finally { suspend(); echo "  cleaned\n"; } })); for_ever(); }, T\parked(...));
cancelled('the block has returned', function() { T\begun(spawn(function() { try { for_ever(); } finally { suspend(); echo "  cleaned\n"; } })); }, T\parked(...));
cancelled('the cleanup fails', function() { try { for_ever(); } finally { throw new LogicException('of the cleanup'); } }, T\parked(...));
cancelled('the block swallows it', function() { try { for_ever(); } catch (CancellationException) { return 'a result'; } }, T\parked(...));
$go = false;
cancelled('after a failure', function() use (&$go) {
    T\parked(spawn(function() use (&$go) { try { for_ever(); } finally { while (!$go) suspend(); echo "  cleaned\n"; } }));
    throw new DomainException('it has failed');
}, function($caller) use (&$go) { T\turns(3); $go = true; });
$go = false;
cancelled('twice', function() use (&$go) {
    try { for_ever(); } finally { while (!$go) suspend(); echo "  cleaned\n"; }
}, function($caller) use (&$go) {
    T\parked($caller);
    $caller->cancel(new CancellationException('the first'));
    suspend();
    $go = true;
});
attempt('pending', fn() => await(spawn(function() { currentCoroutine()->cancel(new CancellationException('pending')); group(fn() => print("never\n")); })));
attempt('by the block, of its caller', fn() => await(spawn(fn() => group(function() { currentCoroutine()->cancel(new CancellationException('mine')); for_ever(); }))));
attempt('of its scope', fn() => group(function() { currentScope()->cancel(new CancellationException('all')); for_ever(); }));
attempt('of the scope above', function() {
    $scope = new Scope;
    $caller = $scope->spawn(fn() => group(function() { try { for_ever(); } finally { echo "  cleaned\n"; } }));
    T\parked($caller);
    $scope->cancel(new CancellationException('from above'));
    return await($caller);
});

echo "-- places\n";
spawn(function() { new Doing(fn() => print(group(fn() => "  in a destructor\n"))); });
T\turns(2);
$fiber = new Fiber(function() { echo group(function() { suspend(); return "  in a fiber\n"; }); Fiber::suspend(); return group(fn() => 'and again'); });
$fiber->start();
$fiber->resume();
echo "  {$fiber->getReturn()}\n";
attempt('a suspended fiber', function() { (new Fiber(fn() => group(fn() => Fiber::suspend())))->start(); });
$closed = new Scope;
attempt('in a closed scope', fn() => await($closed->spawn(function() use ($closed) { try { $closed->cancel(); for_ever(); } catch (CancellationException) { group(fn() => 1); } })));
$deep = function(int $left) use (&$deep) { return $left ? group($deep, $left - 1) : 'the bottom'; };
attempt('10,000 deep', fn() => $deep(9999));
register_shutdown_function(fn() => attempt('after the end', fn() => group(fn() => 1)));
?>
--EXPECTF--
a result: 7
arguments: [1,2,3]
named: [2,1]
internal: 3
unknown name: Error: Unknown named parameter $c
too few: ArgumentCountError: Too few arguments to function {closure%S}(), 0 passed and exactly 1 expected
no callable: TypeError: Async\group(): Argument #1 ($block) must be a valid callback, function "nothing" not found or invalid function name
none: ArgumentCountError: Async\group() expects at least 1 argument, 0 given
  warning: {closure%S}(): Argument #1 ($it) must be passed by reference, value given
by reference: 1
nested: "deep"
-- it acts as its caller
  locked by the caller
itself, context, lock: [true,"value"]
what it spawns does not: [false,null]
it cannot await its caller: "A coroutine cannot await itself"
nor with others: "A coroutine cannot await itself"
nor one above: "A coroutine cannot await itself"
nor a block above: "A coroutine cannot await itself"
nor their group: "A coroutine cannot await a group that it is in: it would never complete"
  the block
what it spawns can await the block: "the block"
-- waits for all
spawned by what it has spawned: 2
not for other scopes: true
its scope is closed then: Async\AsyncException: Coroutine scope is closed
[true,true,false,true]
-- failures
the block: DomainException: of the block
a child: DomainException: of a child
a child whose object is held: DomainException: held
one that is awaited and caught: "none"
  handled: for the handler
one that a handler takes: "none"
an inner one passes outwards: DomainException: inner
later ones are asked for: ["the first","the first","a later one"]
or warned of: DomainException: the first
  warning: Unhandled exception in a scope that has failed already: LogicException: a later one
-- cancellation
before its start: Async\CancellationException: by the test
  cleaned
while it waits: Async\CancellationException: by the test
  cleaned
the block has returned: Async\CancellationException: by the test
the cleanup fails: Async\CancellationException: by the test after LogicException: of the cleanup after Async\CancellationException: cancelled because group() was cancelled
the block swallows it: Async\CancellationException: by the test
  cleaned
after a failure: Async\CancellationException: by the test after DomainException: it has failed
  cleaned
twice: Async\CancellationException: the first
pending: Async\CancellationException: pending
by the block, of its caller: Async\CancellationException: mine
of its scope: Async\CancellationException: all
  cleaned
of the scope above: Async\CancellationException: from above
-- places
  in a destructor
  in a fiber
  and again
a suspended fiber: FiberError: Cannot suspend outside of a fiber
in a closed scope: null
10,000 deep: "the bottom"
after the end: Async\AsyncException: Cannot await here: the coroutines have ended, it would never complete
