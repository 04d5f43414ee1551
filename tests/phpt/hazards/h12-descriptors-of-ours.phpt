--TEST--
H12 the event loop's descriptors: a child may do with their numbers what it likes, and the script cannot break them
--EXTENSIONS--
ffi
--INI--
ffi.enable=1
--FILE--
<?php
use function Async\{await, delay, spawn};

require __DIR__ . '/kit.inc';

$ours = fn() => array_keys(array_filter(T\descriptors(), fn($what) => str_contains($what, 'anon_inode')));
$works = function(string $when) use (&$jobs) {
    [$a, $b] = T\pair();
    $reader = spawn(fn() => fgets($a));
    delay(1);
    fwrite($b, "read\n");
    T\check($when, await($reader) === "read\n" && await(spawn(fn() => shell_exec('echo x'))) === "x\n"
        && gethostbyname('localhost') === '127.0.0.1');
};
await(spawn(fn() => null));
T\check('there are some', count($ours()) >= 3, T\descriptors());

// a program for which every number that there is means something
$child = await(spawn(function() {
    $spec = [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']];
    foreach (scandir('/proc/self/fd') as $fd) if (is_numeric($fd)) $spec[(int) $fd] ??= ['file', '/dev/null', 'r'];
    $process = proc_open('ls -l /proc/self/fd | grep -c anon_inode', $spec, $pipes);
    return [stream_get_contents($pipes[1]), stream_get_contents($pipes[2]), proc_close($process)];
}));
T\check('all numbers of a child', $child === ["0\n", '', 1], $child);

// what the script can do with a number
foreach ($ours() as $fd) T\check('not to be had', @fopen("php://fd/$fd", 'r') === false);
$works('afterwards');

// C code that closes what it finds, by calls that are not seen, while others wait
[$a, $b] = T\pair();
$waits = spawn(fn() => fgets($a));
$sleeps = spawn(function() { T\turns(50); return 'slept'; });
T\parked($waits);
$libc = FFI::cdef('int close(int);');
foreach ($ours() as $fd) $libc->close($fd);
fwrite($b, "still there\n");
echo await($waits), await($sleeps), "\n";
$works('made anew');
?>
--EXPECT--
there are some: yes
all numbers of a child: yes
not to be had: yes
not to be had: yes
not to be had: yes
afterwards: yes
still there
slept
made anew: yes
