--TEST--
H16 a call that uses more handles than most waits for the last of them, too
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

[$near, $far] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$all = array_map(fn() => fopen('php://memory', 'w+'), range(0, 39));
$writer = spawn(fn() => fwrite($near, str_repeat('x', 4_000_000)));
T\parked($writer);
$printer = spawn(fn() => fprintf($all[0], str_repeat("%s", 41), ...[...$all, $near]) > 41);
T\begun($printer);
echo $printer->getAwaitingInfo()['call'] ?? 'nothing', "\n";
stream_get_contents($far, 4_000_000);
echo await($writer), "\n";
var_dump(await($printer));
?>
--EXPECT--
locked handle
4000000
bool(true)
