--TEST--
CANC-4 an error handler that the blocked function calls while it fails gets the cancellation where it suspends itself, while its blocking calls fail like the others
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

$server = stream_socket_server('tcp://127.0.0.1:0');
$waits = [
    'suspend' => fn() => suspend(),
    'delay' => fn() => delay(0),
    'await' => fn() => await(spawn(fn() => null)),
    'sleep' => fn() => usleep(1),
];
foreach ($waits as $name => $wait) {
    $log = [];
    $task = spawn(function () use ($server, $wait, &$log): void {
        set_error_handler(function (int $level, string $message) use ($wait, &$log): bool {
            $log[] = str_contains($message, 'Accept failed') ? 'handler' : $message;
            try {
                $wait();
                $log[] = 'waited';
            } finally {
                $log[] = 'left';
            }
            return true;
        });
        try {
            stream_socket_accept($server, 60);
            $log[] = 'NOT REACHED';
        } finally {
            $log[] = 'finally';
        }
    });
    T\parked($task);
    $task->cancel();
    $e = T\failure($task);
    echo "$name: ", implode(', ', $log), ', ', get_class($e), ', previous: ', $e->getPrevious() ? get_class($e->getPrevious()) : 'none', "\n";
}
?>
--EXPECT--
suspend: handler, left, finally, Async\CancellationException, previous: none
delay: handler, left, finally, Async\CancellationException, previous: none
await: handler, left, finally, Async\CancellationException, previous: none
sleep: handler, waited, left, finally, Async\CancellationException, previous: none
