--TEST--
ERR-6 async.diagnostics warns of a second cancellation that ends a wait of a coroutine, with both reasons
--INI--
async.diagnostics=1
--FILE--
<?php
require __DIR__ . '/kit.inc';

use Async\{CancellationException, Lifetime, Scope};
use function Async\{await, delay, protect, spawn};

set_error_handler(function (int $level, string $message, string $file, int $line) {
    echo "$line: ", preg_replace('/(C|c)oroutine #\d+/', '$1oroutine #N', str_replace("$file:", 'line ', $message)), "\n";
    return true;
});

/** Returns a coroutine that is cancelled once and waits in its cleanup. */
function cleansUp(callable $cleanup, Scope $scope): Async\Coroutine
{
    $coroutine = $scope->spawn(function () use ($cleanup) {
        try {
            delay(600_000);
        } finally {
            $cleanup();
        }
    });
    T\parked($coroutine);
    $coroutine->cancel();
    T\turns(3);
    T\parked($coroutine);
    return $coroutine;
}

$scope = new Scope;
$long = fn() => delay(600_000);
$coroutine = cleansUp($long, $scope);
$coroutine->cancel();
T\failure($coroutine);

echo "by a message, and by the scope\n";
$coroutine = cleansUp($long, $scope);
$coroutine->cancel(new CancellationException('no time'));
T\failure($coroutine);
$coroutine = cleansUp($long, $scope);
$scope->cancel();
T\failure($coroutine);

$top = new Scope(Lifetime::TopDown);
$top->spawn(function () use ($long) {
    spawn(function () use ($long) {
        try {
            delay(600_000);
        } finally {
            $long();
        }
    });
    T\turns(3);
});
T\turns(10);
$top->cancel();
$top->awaitAfterCancellation();

echo "none from here\n";
$scope = new Scope;
$coroutine = cleansUp(fn() => protect(fn() => T\turns(20)), $scope);
$coroutine->cancel();
T\failure($coroutine);
$once = spawn(fn() => delay(600_000));
T\parked($once);
$once->cancel();
$once->cancel(); // the first one has not been delivered
T\failure($once);
$never = spawn(fn() => 1);
$never->cancel();
$never->cancel();
T\failure($never);
ini_set('async.diagnostics', '0');
$coroutine = cleansUp($long, $scope);
$coroutine->cancel();
T\failure($coroutine);
?>
--EXPECT--
30: Coroutine #N spawned at line 15 is cancelled again before it has ended, which ends its wait at line 30 (before: cancelled at line 23; now: cancelled at line 32). What has to run to its end belongs in protect()
by a message, and by the scope
30: Coroutine #N spawned at line 15 is cancelled again before it has ended, which ends its wait at line 30 (before: cancelled at line 23; now: no time, at line 37). What has to run to its end belongs in protect()
30: Coroutine #N spawned at line 15 is cancelled again before it has ended, which ends its wait at line 30 (before: cancelled at line 23; now: cancelled at line 40). What has to run to its end belongs in protect()
30: Coroutine #N spawned at line 45 is cancelled again before it has ended, which ends its wait at line 30 (before: cancelled because the coroutine that spawned it has completed: coroutine #N, spawned at line 44; now: cancelled at line 55). What has to run to its end belongs in protect()
none from here
