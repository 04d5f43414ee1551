--TEST--
H4 cancelled opens, look-ups and process waits undo what still succeeds: no descriptor, no process, no thread pile
--EXTENSIONS--
posix
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in(['file' => 'x']);
posix_mkfifo('fifo', 0600);
set_error_handler(fn() => true);

$jobs = [
    fn() => fopen('fifo', 'r'),
    fn() => fopen('file', 'r'),
    fn() => file_get_contents('file'),
    fn() => gethostbyaddr('127.0.0.1'),
    fn() => stream_socket_client('tcp://localhost:1'),
    fn() => shell_exec('exec true'),
    fn() => fsync(fopen('file', 'r+')),
];
$round = function() use ($jobs) {
    $all = [];
    foreach ($jobs as $job) for ($i = 0; $i < 3; $i++) $all[] = spawn($job);
    suspend();
    foreach ($all as $i => $c) {
        if ($i % 3 === 1) suspend();
        if ($i % 3 === 2) delay(1);
        $c->cancel();
    }
    foreach ($all as $c) T\failure($c);
};
for ($i = 0; $i < 5; $i++) $round();
$threads = fn() => count(scandir('/proc/self/task')) - 2;
$fds = count(T\descriptors());
$before = $threads();
for ($i = 0; $i < 20; $i++) $round();
T\check('descriptors', T\until(fn() => count(T\descriptors()) <= $fds), T\descriptors());
T\check('processes', T\until(fn() => T\children() === []), T\children());
T\check('threads', T\until(fn() => $threads() <= max($before, 16)), "$before, then {$threads()}");
// jobs still get done
echo Async\await(spawn(fn() => file_get_contents('file'))), "\n";
?>
--EXPECT--
descriptors: yes
processes: yes
threads: yes
x
