--TEST--
ERR-6 async.diagnostics warns of a coroutine that has not ended async.cancel_warning_ms after its cancellation, once for each
--INI--
async.diagnostics=1
async.cancel_warning_ms=60
--FILE--
<?php
use Async\Scope;
use function Async\{await, delay, protect, spawn, suspend};

require __DIR__ . '/kit.inc';

$warnings = [];
set_error_handler(function ($number, $message, $file, $line) use (&$warnings) {
    $warnings[] = preg_replace('~/\S*/~', '', "$message @$line");
});
function report(string $what): void
{
    global $warnings;
    echo "$what: ", implode("\n    ", $warnings) ?: 'nothing', "\n";
    $warnings = [];
}

/** A coroutine that ends when so many warnings have come. */
function warned(int $count): Async\Coroutine
{
    return spawn(function () use ($count) {
        T\until(function () use ($count) { return count($GLOBALS['warnings']) >= $count; });
    });
}

$twice = warned(3);
$swallows = spawn(function () use ($twice) {
    for ($i = 0; $i < 2; $i++) {
        try {
            delay(600_000);
        } catch (Async\CancellationException) {
        }
    }
    await($twice);
});
T\parked($swallows);
$swallows->cancel();
suspend();
$swallows->cancel();
$swallows->cancel(); // of no effect: the one before has not arrived
await($swallows);
report('swallowed twice');

$once = warned(1);
$protects = spawn(fn() => protect(fn() => await($once)));
T\parked($protects);
$protects->cancel();
T\failure($protects);
report('protected');

$scope = new Scope;
$once = warned(1);
T\parked($scope->spawn(function () use ($once) {
    try {
        delay(600_000);
    } finally {
        await($once);
    }
}));
$scope->cancel();
$scope->awaitAfterCancellation();
report('in a scope');

$soon = spawn(function () {
    try {
        delay(600_000);
    } finally {
        suspend();
    }
});
$never = spawn(fn() => 1);
T\parked($soon);
$soon->cancel();
$never->cancel();
T\failure($soon);
T\turns(100);
report('in time');

$once = warned(1);
Async\protect(function () use ($once) {
    Async\currentCoroutine()->cancel();
    await($once);
    report('the script');
    ini_set('async.diagnostics', '0');
    $protects = spawn(fn() => protect(fn() => T\turns(100)));
    T\begun($protects);
    $protects->cancel();
    T\turns(150);
    report('off');
    T\failure($protects);
});
?>
--EXPECTF--
swallowed twice: Coroutine #%d spawned at err-6-cancelled-and-still-there.php:27 is cancelled again before it has ended, which ends its wait at err-6-cancelled-and-still-there.php:30 (before: cancelled at err-6-cancelled-and-still-there.php:37; now: cancelled at err-6-cancelled-and-still-there.php:39). What has to run to its end belongs in protect() @30
    Coroutine #%d spawned at err-6-cancelled-and-still-there.php:27 has not ended 60 ms after its cancellation: it is suspended at err-6-cancelled-and-still-there.php:34 in await() of coroutine #%d. It has caught the CancellationException, and goes on @34
    Coroutine #%d spawned at err-6-cancelled-and-still-there.php:27 has not ended 60 ms after its cancellation: it is suspended at err-6-cancelled-and-still-there.php:34 in await() of coroutine #%d. It has caught the CancellationException, and goes on @34
protected: Coroutine #%d spawned at err-6-cancelled-and-still-there.php:45 has not ended 60 ms after its cancellation: it is suspended at err-6-cancelled-and-still-there.php:45 in await() of coroutine #%d. It is in protect() @45
in a scope: Coroutine #%d spawned at err-6-cancelled-and-still-there.php:53 has not ended 60 ms after its cancellation: it is suspended at err-6-cancelled-and-still-there.php:57 in await() of coroutine #%d. It cleans up, in finally or a destructor @57
in time: nothing
the script: Coroutine #1 (the script itself) has not ended 60 ms after its cancellation: it is suspended at err-6-cancelled-and-still-there.php:82 in await() of coroutine #%d. It is in protect() @82
off: nothing
