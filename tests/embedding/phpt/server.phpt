--TEST--
A server of Rust code, whose handler is PHP code that suspends: connections one after the other and at once
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';
use function Async\{await, delay, spawn};
use function Embedding\{connectable, listen, port, serve};
use function T\parked;

$listener = listen();
$address = 'tcp://127.0.0.1:' . port($listener);
echo 'connectable: ', var_export(connectable($listener, 1), true), "\n";
$waiting = spawn(connectable(...), $listener, 1_000_000);
parked($waiting);
$early = stream_socket_client($address);
echo 'connectable: ', var_export(await($waiting), true), "\n";

$server = serve($listener, function (string $line) {
    if ($line === 'slow') {
        delay(1);
    }
    return strrev($line);
});
fwrite($early, "early\n");
echo fgets($early);
fclose($early);

// Their descriptors have the same numbers.
foreach (['one', 'two', 'three'] as $word) {
    $client = stream_socket_client($address);
    fwrite($client, "$word\n");
    echo fgets($client);
    fwrite($client, "slow\nlast\n");
    echo fgets($client), fgets($client);
    fclose($client);
}

$long = str_repeat('0123456789', 50_000);
$clients = array_map(fn ($number) => spawn(function () use ($address, $number, $long) {
    $client = stream_socket_client($address);
    fwrite($client, "$number\n$long\n");
    $answers = [rtrim(fgets($client)), rtrim(fgets($client)) === strrev($long)];
    fclose($client);
    return $answers;
}), range(10, 14));
foreach ($clients as $client) {
    echo json_encode(await($client)), "\n";
}
$server->cancel();
--EXPECT--
connectable: false
connectable: true
ylrae
eno
wols
tsal
owt
wols
tsal
eerht
wols
tsal
["01",true]
["11",true]
["21",true]
["31",true]
["41",true]
