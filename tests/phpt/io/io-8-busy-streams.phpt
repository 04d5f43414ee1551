--TEST--
IO-8 one stream, several coroutines: readers take turns in the order they came, a reader and a writer go together
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

[$a, $b] = T\pair();
$came = $order = $readers = [];
for ($i = 0; $i < 10; $i++) {
    $readers[] = spawn(function() use ($a, $i, &$came, &$order) { $came[] = $i; $line = trim(fgets($a)); $order[] = $i; return $line; });
}
T\parked(...$readers);
// while ten wait to read, writing on the same stream goes through
fwrite($a, "written meanwhile\n");
echo fgets($b);
for ($i = 0; $i < 5; $i++) fwrite($b, "line $i\n");
T\turns(10);
fwrite($b, "line 5\nline 6\nline 7\nline 8\nline 9\n");
$lines = T\all($readers);
sort($lines);
echo implode(', ', $lines), "\n";
T\check('in the order they came', $order === $came, [$came, $order]);

// large writes of several coroutines are not torn
$writers = [];
for ($i = 0; $i < 4; $i++) $writers[] = spawn(fn() => fwrite($b, str_repeat("$i", 300_000) . "\n"));
$read = spawn(function() use ($a) { $runs = []; for ($i = 0; $i < 4; $i++) { $line = rtrim(fgets($a)); $runs[] = strlen($line) . 'x' . count_chars($line, 3); } sort($runs); return $runs; });
echo implode(' ', T\all([$read])[0]), ' ', implode(' ', array_unique(T\all($writers))), "\n";

// accepting on one server
[$server, $address] = T\listener();
$accepting = [];
for ($i = 0; $i < 3; $i++) $accepting[] = spawn(function() use ($server) { $c = stream_socket_accept($server, 600); return trim(fgets($c)); });
T\parked(...$accepting);
$clients = [];
foreach (['x', 'y', 'z'] as $name) {
    $clients[] = $c = stream_socket_client($address);
    fwrite($c, "$name\n");
}
$names = T\all($accepting);
sort($names);
echo implode(' ', $names), "\n";
?>
--EXPECT--
written meanwhile
line 0, line 1, line 2, line 3, line 4, line 5, line 6, line 7, line 8, line 9
in the order they came: yes
300000x0 300000x1 300000x2 300000x3 300001
x y z
