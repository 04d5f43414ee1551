--TEST--
CANC-4 an error handler that the blocked function calls while it fails runs to its end; the cancellation is thrown when the function has returned
--FILE--
<?php
use function Async\{delay, spawn};

require __DIR__ . '/kit.inc';

set_error_handler(function (int $level, string $message): bool {
    $words = explode(' ', $message); // internal functions return here, too
    usort($words, fn($a, $b) => strcmp($a, $b));
    echo 'handled: ', count($words) > 1 ? 'yes' : 'no', "\n";
    return true;
});
[$server, $address] = T\listener();
$task = spawn(function () use ($address): void {
    try {
        file_get_contents(str_replace('tcp', 'http', $address));
        echo "NOT REACHED\n";
    } finally {
        echo "finally\n";
    }
});
T\parked($task);
$task->cancel();
$e = T\failure($task);
echo get_class($e), ', previous: ', $e->getPrevious() ? get_class($e->getPrevious()) : 'none', "\n";
?>
--EXPECT--
handled: yes
finally
Async\CancellationException, previous: none
