--TEST--
ERR-6 async.diagnostics warns of a coroutine that has not ended async.cancel_warning_ms after its cancellation, once for each
--INI--
async.diagnostics=1
async.cancel_warning_ms=60
--FILE--
<?php
use Async\Scope;
use function Async\{await, delay, protect, spawn};

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

$swallows = spawn(function () {
    for ($i = 0; $i < 2; $i++) {
        try {
            delay(10_000);
        } catch (Async\CancellationException) {
        }
    }
    delay(200);
});
T\parked($swallows);
$swallows->cancel();
delay(30);
$swallows->cancel();
$swallows->cancel(); // of no effect: the one before has not arrived
await($swallows);
report('swallowed twice');

$protects = spawn(fn() => protect(fn() => delay(150)));
T\parked($protects);
$protects->cancel();
T\failure($protects);
report('protected');

$scope = new Scope;
$scope->spawn(function () {
    try {
        delay(10_000);
    } finally {
        usleep(150_000);
    }
});
delay(5);
$scope->cancel();
$scope->awaitAfterCancellation();
report('in a scope');

$soon = spawn(function () {
    try {
        delay(10_000);
    } finally {
        delay(5);
    }
});
$never = spawn(fn() => 1);
T\parked($soon);
$soon->cancel();
$never->cancel();
T\failure($soon);
delay(100);
report('in time');

Async\protect(function () {
    Async\currentCoroutine()->cancel();
    delay(100);
    report('the script');
    ini_set('async.diagnostics', '0');
    $protects = spawn(fn() => protect(fn() => delay(100)));
    T\begun($protects);
    $protects->cancel();
    delay(150);
    report('off');
    T\failure($protects);
});
?>
--EXPECTF--
swallowed twice: Coroutine #%d spawned at err-6-cancelled-and-still-there.php:18 has not ended 60 ms after its cancellation: it is suspended at err-6-cancelled-and-still-there.php:25 in delay(). Code that catches the CancellationException, or waits in finally or protect(), should end soon @25
    Coroutine #%d spawned at err-6-cancelled-and-still-there.php:18 has not ended 60 ms after its cancellation: it is suspended at err-6-cancelled-and-still-there.php:25 in delay(). Code that catches the CancellationException, or waits in finally or protect(), should end soon @25
protected: Coroutine #%d spawned at err-6-cancelled-and-still-there.php:35 has not ended 60 ms after its cancellation: it is suspended at err-6-cancelled-and-still-there.php:35 in delay(). Code that catches the CancellationException, or waits in finally or protect(), should end soon @35
in a scope: Coroutine #%d spawned at err-6-cancelled-and-still-there.php:42 has not ended 60 ms after its cancellation: it is suspended at err-6-cancelled-and-still-there.php:46 in usleep(). Code that catches the CancellationException, or waits in finally or protect(), should end soon @46
in time: nothing
the script: Coroutine #1 (the script itself) has not ended 60 ms after its cancellation: it is suspended at err-6-cancelled-and-still-there.php:71 in delay(). Code that catches the CancellationException, or waits in finally or protect(), should end soon @71
off: nothing
