--TEST--
IO-8 a persistent stream is one coroutine's at a time; one of before is found again
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

$server = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($server, false);
$port = (int) substr(strrchr($address, ':'), 1);
$name = fn($stream) => stream_socket_get_name($stream, false);
$kinds = [
    'pfsockopen' => fn() => pfsockopen('127.0.0.1', $port),
    'stream_socket_client' => fn() => stream_socket_client("tcp://$address", flags: STREAM_CLIENT_CONNECT | STREAM_CLIENT_PERSISTENT),
];
$sockets = fn() => count(array_filter(T\descriptors(), fn($d) => str_starts_with($d, 'socket')));
$before = $sockets();
$first = $kinds['pfsockopen'](); // before the first coroutine: main's
foreach ($kinds as $kind => $open) {
    echo "$kind\n";
    $names = [];
    for ($round = 0; $round < 2; $round++) {
        $jobs = [];
        for ($i = 0; $i < 3; $i++) {
            $jobs[] = spawn(function() use ($open, $name) {
                $stream = $open();
                T\turns(10);
                T\check('asked twice, one', $name($open()) === $name($stream));
                T\turns(10);
                return [$name($stream), $stream];
            });
        }
        $ended = T\all($jobs);
        $names[] = array_column($ended, 0);
        $jobs = null;
        array_map(fn($stream) => fclose($stream), array_column($ended, 1));
        $ended = null;
    }
    T\check('each its own', count(array_unique($names[0])) === 3, $names);
    T\check('a closed one is not found again', !array_intersect($names[0], $names[1]), $names);
}
T\check('that of main', $name($kinds['pfsockopen']()) === $name($first) && !in_array($name($first), array_merge(...$names)));
fclose($first);
T\check('none left', $sockets() === $before, T\descriptors());
?>
--EXPECT--
pfsockopen
asked twice, one: yes
asked twice, one: yes
asked twice, one: yes
asked twice, one: yes
asked twice, one: yes
asked twice, one: yes
each its own: yes
a closed one is not found again: yes
stream_socket_client
asked twice, one: yes
asked twice, one: yes
asked twice, one: yes
asked twice, one: yes
asked twice, one: yes
asked twice, one: yes
each its own: yes
a closed one is not found again: yes
that of main: yes
none left: yes
