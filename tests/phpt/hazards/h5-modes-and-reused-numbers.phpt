--TEST--
H5 mode and identity of a descriptor do not drift: O_NONBLOCK switched back and forth, numbers reused by other kinds of files
--EXTENSIONS--
posix
sockets
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in(['file' => str_repeat("line\n", 10)]);

// the mode
[$a, $b] = T\pair();
echo json_encode(Async\await(spawn(function() use ($a, $b) {
    $out = [];
    for ($i = 0; $i < 3; $i++) {
        stream_set_blocking($a, false);
        $out[] = fread($a, 10);
        stream_set_blocking($a, true);
        spawn(function() use ($b, $i) { T\turns(5); fwrite($b, "$i"); });
        $out[] = fread($a, 10);
    }
    return $out;
}))), "\n";
$s = socket_import_stream($a);
socket_set_nonblock($s);
echo json_encode(Async\await(spawn(fn() => [@socket_read($s, 10), socket_last_error($s) === SOCKET_EAGAIN]))), "\n";
socket_set_block($s);
$blocked = spawn(fn() => socket_read($s, 10));
T\parked($blocked);
var_dump($blocked->isCompleted());
fwrite($b, 'x');
echo Async\await($blocked), "\n";

// the number: the same one is a socket, a file, a pipe, a listener, a directory, all in turn
$kinds = [
    'socket' => function() { [$x, $y] = T\pair(); spawn(function() use ($y) { delay(1); fwrite($y, 'from a socket'); fclose($y); }); return stream_get_contents($x); },
    'file' => function() { $f = fopen('file', 'r'); $n = 0; while (fgets($f)) $n++; return $n; },
    'pipe' => fn() => stream_get_contents(popen('printf from; printf " a pipe"', 'r')),
    'listener' => function() { [$server, $address] = T\listener(); spawn(function() use ($address) { delay(1); fwrite(stream_socket_client($address), 'from a client'); }); return stream_get_contents(stream_socket_accept($server, 600)); },
    'directory' => fn() => count(scandir('.')) > 2,
    'zero' => fn() => strlen(fread(fopen('/dev/zero', 'r'), 100)),
];
$expected = ['socket' => 'from a socket', 'file' => 10, 'pipe' => 'from a pipe', 'listener' => 'from a client', 'directory' => true, 'zero' => 100];
mt_srand(5);
$jobs = [];
for ($i = 0; $i < 6; $i++) {
    $jobs[] = spawn(function() use ($kinds, $expected) {
        $wrong = [];
        for ($k = 0; $k < 25; $k++) {
            $name = array_rand($kinds);
            $result = $kinds[$name]();
            if ($result !== $expected[$name]) $wrong[] = [$name, $result];
            suspend();
        }
        return $wrong;
    });
}
$wrong = array_merge(...T\all($jobs));
T\check('each kind', $wrong === [], $wrong);
?>
--EXPECT--
["","0","","1","","2"]
[false,true]
bool(false)
x
each kind: yes
