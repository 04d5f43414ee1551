--TEST--
H9 writes larger than a pipe holds, whose reader is a coroutine of the same process, in pipes, FIFOs and standard output
--EXTENSIONS--
posix
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';
$php = T\interpreter();
T\work_in([
    // standard output is a pipe with a slow reader: others run on, and nothing is lost
    'out.php' => '<?php $ticks = 0; $t = Async\spawn(function() use (&$ticks) { while (true) { Async\delay(2); if (++$ticks === 20) fwrite(STDERR, "ticking\n"); } });
        Async\await(Async\spawn(function() { for ($i = 0; $i < 30; $i++) echo str_repeat((string) ($i % 10), 10_000), "\n"; fwrite(STDOUT, str_repeat("x", 300_000)); }));
        $t->cancel();',
]);
posix_mkfifo('fifo', 0600);
$data = random_bytes(1000);
$data = str_repeat($data, 1500);

// a page is free, so the pipe polls writable: a blocking write of a megabyte must not stop its own reader
$p = proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes);
fwrite($pipes[0], 'x');
$ticks = new T\Ticks;
$jobs = [
    'written' => spawn(function() use ($pipes, $data) { $n = fwrite($pipes[0], $data); fclose($pipes[0]); return $n; }),
    'read' => spawn(function() use ($pipes) { T\turns(20); $all = ''; while (!feof($pipes[1])) { $all .= fread($pipes[1], 7000); suspend(); } return strlen($all); }),
    'fifo written' => spawn(fn() => file_put_contents('fifo', $data)),
    'fifo read' => spawn(function() use ($data) { $f = fopen('fifo', 'r'); T\turns(20); return stream_get_contents($f) === $data; }),
];
foreach (T\all($jobs) as $name => $result) echo "$name: ", json_encode($result), "\n";
T\check('ticking', $ticks->stop() > 3, $ticks->count);

$p = proc_open("$php out.php", [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
$bytes = 0;
$said = fgets($pipes[2]); // it is full since long
while (!feof($pipes[1])) $bytes += strlen(fread($pipes[1], 8192));
echo $bytes, ' ', proc_close($p), "\n";
T\check('others ran while the output was full', $said === "ticking\n", $said);
?>
--EXPECT--
written: 1500000
read: 1500001
fifo written: 1500000
fifo read: true
ticking: yes
600030 0
others ran while the output was full: yes
