--TEST--
CANC-4 a cancellation by force that makes a call fail is thrown, also if the error handler of the call suspends
--FILE--
<?php
use function Async\{delay, gracefulShutdown, spawn, suspend};

require __DIR__ . '/kit.inc';

T\work_in();
posix_mkfifo('fifo', 0600);
set_error_handler(function () {
    echo "handler\n";
    suspend();
    echo "not reached\n";
});
$stubborn = spawn(function () {
    try { delay(600_000); } catch (Throwable) { echo "swallowed\n"; }
    try {
        file_get_contents('fifo');
    } catch (Throwable $e) {
        echo get_class($e), "\n";
        throw $e;
    } finally {
        echo "finally\n";
    }
});
T\parked($stubborn);
try {
    gracefulShutdown();
    T\until(fn() => $stubborn->isCompleted());
} catch (Async\CancellationException) {
    T\parked($stubborn);
    gracefulShutdown();
}
?>
--EXPECT--
swallowed
handler
Async\CancellationException
finally
