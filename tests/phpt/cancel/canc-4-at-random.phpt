--TEST--
CANC-4 2,000 cancellations at random moments of every kind of suspension leave no descriptor, process, coroutine or memory
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, delay, getCoroutines, protect, spawn, suspend, timeout};

require __DIR__ . '/kit.inc';
T\work_in(['lock' => '', 'data' => str_repeat("a line of text\n", 2000)]);
posix_mkfifo('fifo', 0600);
set_error_handler(fn() => true);
[$server, $address] = T\listener();
$seed = getenv('SEED') ?: mt_rand(1, 1_000_000);
mt_srand((int) $seed);

$kinds = [
    fn() => delay(mt_rand(0, 50)),
    function() { for ($i = 0; $i < 20; $i++) suspend(); },
    fn() => usleep(mt_rand(0, 50_000)),
    function() { [$a, $b] = T\pair(); fgets($a); },
    function() { [$a, $b] = T\pair(); fwrite($a, str_repeat('x', 1_000_000)); },
    function() { [$a, $b] = T\pair(); $r = [$a, $b]; $w = $x = null; stream_select($r, $w, $x, 5); },
    function() use ($address) { $s = stream_socket_client($address); fread($s, 1); },
    function() { [$s] = T\listener(); stream_socket_accept($s, 5); },
    fn() => await(spawn(fn() => delay(20))),
    fn() => await(spawn(fn() => delay(30)), timeout(15)),
    function() { $f = fopen('lock', 'r'); flock($f, LOCK_EX); delay(2); flock($f, LOCK_UN); },
    function() { for ($i = 0; $i < 10; $i++) strlen(file_get_contents('data')); },
    fn() => file_put_contents('out' . mt_rand(1, 5), str_repeat('x', 100_000), LOCK_EX),
    fn() => protect(fn() => delay(5)),
    function() { try { delay(20); } finally { delay(2); usleep(1000); } },
    function() { $a = range(1, 9); usort($a, function($x, $y) { suspend(); return $x <=> $y; }); },
    fn() => fopen('fifo', 'r'),
    fn() => (new Fiber(function() { delay(10); }))->start(),
    fn() => gethostbyaddr('127.0.0.1'),
];
$processes = [
    fn() => shell_exec('exec sleep 0.02'),
    function() { $p = proc_open(['sleep', '0.02'], [1 => ['pipe', 'w']], $pipes); stream_get_contents($pipes[1]); proc_close($p); },
];
$round = function(int $count) use ($kinds, $processes): void {
    $jobs = [];
    for ($i = 0; $i < $count; $i++) {
        $jobs[] = spawn($i % 40 === 0 ? $processes[array_rand($processes)] : $kinds[array_rand($kinds)]);
        if (count($jobs) === 50) {
            shuffle($jobs);
            foreach ($jobs as $job) {
                if (mt_rand(0, 3) === 0) suspend();
                if (mt_rand(0, 9) === 0) delay(mt_rand(0, 3));
                $job->cancel();
                if (mt_rand(0, 4) === 0) $job->cancel();
            }
            foreach ($jobs as $job) T\failure($job);
            $jobs = [];
        }
    }
    foreach (getCoroutines() as $left) if ($left !== Async\currentCoroutine()) $left->cancel();
    T\until(fn() => count(getCoroutines()) === 1);
    gc_collect_cycles();
};
$round(500);
$descriptors = count(T\descriptors());
$memory = memory_get_usage();
$round(1000);
$round(500);
T\check('coroutines', count(getCoroutines()) === 1, "seed $seed: " . count(getCoroutines()));
T\check('descriptors', T\until(fn() => count(T\descriptors()) <= $descriptors), "seed $seed: " . json_encode(T\descriptors()));
T\check('processes', T\until(fn() => T\children() === []), "seed $seed: " . json_encode(T\children()));
T\check('memory', memory_get_usage() - $memory < 200_000, "seed $seed: " . memory_get_usage() - $memory);
// the lock and the pipe are nobody's
T\check('the lock', flock(fopen('lock', 'r'), LOCK_EX | LOCK_NB), "seed $seed");
?>
--EXPECT--
coroutines: yes
descriptors: yes
processes: yes
memory: yes
the lock: yes
