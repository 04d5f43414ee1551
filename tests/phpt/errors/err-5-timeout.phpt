--TEST--
ERR-5 each wait whose token is a timeout() throws TimeoutException; what cancels a BoundedScope whose time is over has it behind it
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{AwaitCancelledException, Barrier, BoundedScope, CancellationException, Channel, CoroutineGroup, Future, FutureState};
use Async\{Lifetime, Mutex, Pool, Scope, Semaphore, TimeoutException};
use function Async\{await, awaitAll, awaitAny, awaitAnyOf, awaitChildren, awaitFirst, delay, select, signal, spawn, timeout};

$slow = spawn(fn() => delay(600_000));
$scope = new Scope;
$scope->spawn(fn() => await($slow));
$cancelled = new Scope;
$protected = $cancelled->spawn(fn() => Async\protect(fn() => await($slow)));
$tree = new Scope(Lifetime::TopDown);
$tree->spawn(fn() => await($slow));
$bounded = new BoundedScope;
$bounded->spawn(fn() => await($slow));
$group = new CoroutineGroup;
$group->spawn(fn() => await($slow));
$channel = new Channel;
$state = new FutureState;
$semaphore = new Semaphore(1);
$semaphore->acquire();
$mutex = new Mutex;
$mutex->lock();
$pool = new Pool(fn() => new stdClass, max: 1);
$used = $pool->acquire();
T\parked($protected);
$cancelled->cancel();

$waits = [
    'await' => fn($t) => await($slow, $t),
    'await a group' => fn($t) => await($group, $t),
    'await a scope' => fn($t) => await($tree, $t),
    'await a bounded scope' => fn($t) => await($bounded, $t),
    'await a future' => fn($t) => await(new Future($state), $t),
    'await a signal' => fn($t) => await(signal(SIGUSR1), $t),
    'await a timeout' => fn($t) => await(timeout(600_000), $t),
    'future' => fn($t) => (new Future($state))->await($t),
    'awaitChildren' => function($t) use ($slow) { spawn(fn() => await($slow)); awaitChildren($t); },
    'awaitCompletion' => fn($t) => $scope->awaitCompletion($t),
    'awaitAfterCancellation' => fn($t) => $cancelled->awaitAfterCancellation(null, $t),
    'awaitAfterCancellation, handler' => fn($t) => $cancelled->awaitAfterCancellation(fn() => 1, $t),
    'awaitAll' => fn($t) => awaitAll([$slow], $t),
    'awaitAny' => fn($t) => awaitAny([$slow], $t),
    'awaitFirst' => fn($t) => awaitFirst([$slow], $t),
    'awaitAnyOf' => fn($t) => awaitAnyOf(1, [$slow], $t),
    'select' => fn($t) => select([$channel], $t),
    'recv' => fn($t) => $channel->recv($t),
    'send' => fn($t) => $channel->send(1, $t),
    'semaphore' => fn($t) => $semaphore->acquire($t),
    'mutex' => fn($t) => $mutex->lock($t),
    'barrier' => fn($t) => (new Barrier(2))->await($t),
    'pool' => fn($t) => $pool->acquire($t),
];
foreach ($waits as $name => $wait) {
    foreach (['meanwhile' => 1, 'before' => 0] as $when => $ms) {
        $token = timeout($ms);
        if ($when === 'before') await($token);
        $e = T\failure(spawn(fn() => $wait($token)));
        if ([get_class($e), $e->getMessage(), $e->getPrevious(), $e->getFile()] !== [TimeoutException::class, "The wait was given up after $ms ms", null, __FILE__]) {
            echo "$name, $when: ", get_class($e), ' ', $e->getMessage(), "\n";
        }
    }
}
echo count($waits), " kinds of waits\n";

// Other tokens throw what they have thrown before, also one that fails with a TimeoutException.
$token = spawn(fn() => await($slow, timeout(1)));
$e = T\failure(spawn(fn() => await($slow, $token)));
echo get_class($e), ' after ', get_class($e->getPrevious()), "\n";

function shown(Throwable $e): string
{
    return ': ' . $e::class . ": {$e->getMessage()} in " . basename($e->getFile()) . ":{$e->getLine()}";
}
foreach ([
    'withTimeout' => fn() => (new BoundedScope)
        ->withTimeout(2),
    'boundedBy' => fn() => (new BoundedScope)
        ->boundedBy(timeout(3)),
] as $name => $make) {
    $one = $make();
    $one->spawn(function() use ($name, $slow) {
        try {
            await($slow);
        } catch (CancellationException $e) {
            echo $name, shown($e), "\n";
            echo '  after', shown($e->getPrevious()), "\n";
        }
    });
    $two = $one->spawn(fn() => await($slow));
    await($one);
    echo '  another', shown(T\failure($two)->getPrevious()), "\n";
}
$mutex->unlock();
$slow->cancel();
?>
--EXPECT--
23 kinds of waits
Async\AwaitCancelledException after Async\TimeoutException
withTimeout: Async\CancellationException: cancelled because the time limit of its scope has passed in err-5-timeout.php:84
  after: Async\TimeoutException: The scope was given up after 2 ms in err-5-timeout.php:77
  another: Async\TimeoutException: The scope was given up after 2 ms in err-5-timeout.php:77
boundedBy: Async\CancellationException: cancelled because what bounds its scope has completed in err-5-timeout.php:84
  after: Async\TimeoutException: The scope was given up after 3 ms in err-5-timeout.php:79
  another: Async\TimeoutException: The scope was given up after 3 ms in err-5-timeout.php:79
