--TEST--
IO-3 calls that never wait let time limits pass and signals arrive, also where no other coroutine is alive
--EXTENSIONS--
posix
--FILE--
<?php
use function Async\{signal, timeout};

require __DIR__ . '/kit.inc';

[$near, $far] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
stream_set_blocking($near, false);
$ways = [
    'fwrite' => function () use ($far) { static $nowhere; fwrite($nowhere ??= fopen('/dev/null', 'w'), 'text'); },
    'fread' => fn() => fread($near, 10),
    'file_get_contents' => fn() => file_get_contents(__FILE__),
    'stream_select' => function () use ($near) { $read = [$near]; $write = $except = null; stream_select($read, $write, $except, 0); },
];
foreach ($ways as $name => $call) {
    for ($limit = timeout(1); !$limit->isCompleted();) $call();
    $signal = signal(SIGUSR1);
    posix_kill(getmypid(), SIGUSR1);
    while (!$signal->isCompleted()) $call();
    echo $name, "\n";
}
?>
--EXPECT--
fwrite
fread
file_get_contents
stream_select
