--TEST--
ERR-4 no deadlock is seen while a timer, a descriptor, a child process, a pool job or a fiber's coroutine may still wake somebody
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, delay, spawn, timeout};

require __DIR__ . '/kit.inc';
T\work_in(['lock' => '']);
posix_mkfifo('fifo', 0600);

$side = new T\Side('$f = fopen("lock", "r"); flock($f, LOCK_EX); echo "locked\n"; fgets(STDIN); usleep(30_000); flock($f, LOCK_UN); file_put_contents("fifo", "from the fifo"); fgets(STDIN);');
$side->hear();
$wakers = [
    'timer' => fn() => delay(20),
    'timeout' => fn() => await(timeout(20)),
    'flock' => function() use ($side) { $side->say('go'); $f = fopen('lock', 'r'); return flock($f, LOCK_EX); },
    'fifo' => fn() => file_get_contents('fifo'),
    'process' => fn() => shell_exec('sleep 0.03; printf done'),
    'child' => fn() => proc_close(proc_open(['sh', '-c', 'sleep 0.03; exit 4'], [], $pipes)),
    'file job' => fn() => file_put_contents('new', str_repeat('x', 100_000)),
    'names' => fn() => gethostbyaddr('127.0.0.1') !== false,
    'fiber' => function() { $f = new Fiber(function() { delay(20); return 'of a fiber'; }); $f->start(); return $f->getReturn(); },
];
// the script and a chain of coroutines wait for one that waits for the outside
foreach ($wakers as $name => $waker) {
    $inner = spawn($waker);
    $middle = spawn(fn() => await($inner));
    echo "$name: ", json_encode(await($middle)), "\n";
}
?>
--EXPECT--
timer: null
timeout: null
flock: true
fifo: "from the fifo"
process: "done"
child: 4
file job: 100000
names: true
fiber: "of a fiber"
