--TEST--
IO-11 who is cancelled while its output waits writes all of it, is cancelled then, and the program goes on
--FILE--
<?php
require __DIR__ . '/kit.inc';

$begin = <<<'PHP'
    use function Async\{await, spawn};
    require getenv('KIT');
    $tell = fopen('php://fd/3', 'w');
    /** Writes, in a coroutine, what a pipe and a socket have no room for, and then more. */
    $writer = fn(string $letter) => spawn(function () use ($letter) {
        echo str_repeat($letter, 1_000_000);
        for ($i = 0; $i < 3; $i++) strlen("$i") && print('more');
        Async\suspend();
        print('too much');
    });
    $outcome = fn($job) => fwrite($GLOBALS['tell'], get_class(T\failure($job)) . ', ');
    PHP;
$ways = [
    'in its midst' => '$a = $writer("a"); T\parked($a); $a->cancel(); fwrite($tell, "now\n"); $outcome($a);',
    'before its turn' => '$a = $writer("a"); T\parked($a); $b = $writer("b"); T\parked($b); $b->cancel(); fwrite($tell, "now\n"); $outcome($b); T\all([$a]);',
    'both' => '$a = $writer("a"); T\parked($a); $b = $writer("b"); T\parked($b); $b->cancel(); $a->cancel(); fwrite($tell, "now\n"); $outcome($a); $outcome($b);',
    'before it began' => '$a = spawn(function () { Async\current_coroutine()->cancel(); echo str_repeat("a", 1_000_000); Async\suspend(); }); T\parked($a); fwrite($tell, "now\n"); $outcome($a);',
    // Releasing a process waits for its end, and from there on no function is called.
    'while calls fail' => '
        T\work_in();
        posix_mkfifo("fifo", 0600);
        $fifo = fopen("fifo", "r+");
        $a = spawn(function () {
            $big = str_repeat("a", 1_000_000);
            $process = popen(": >begun; exec head -c 1 fifo >/dev/null 2>&1 3>&-", "w");
            $process = null;
            echo $big;
        });
        T\parked($a);
        T\until(fn() => file_exists("begun")); // the shell looks for its folder, which is removed at the end
        $a->cancel(); fwrite($tell, "now\n");
        $outcome($a); fwrite($fifo, ".");',
];
$file = tempnam(sys_get_temp_dir(), 'io-11');
foreach ($ways as $way => $code) {
    file_put_contents($file, "<?php\n$begin\n$code\necho '.'; fwrite(\$tell, 'goes on');");
    foreach (['pipe', 'socket'] as $kind) {
        $process = proc_open(T\interpreter('-d output_buffering=0') . " $file", [['file', '/dev/null', 'r'], [$kind, 'w'], ['redirect', 1], ['pipe', 'w']], $pipes, null, ['KIT' => __DIR__ . '/kit.inc'] + getenv());
        fgets($pipes[3]);
        $output = stream_get_contents($pipes[1]);
        $told = stream_get_contents($pipes[3]);
        $status = proc_close($process);
        for ($runs = []; $output !== ''; $output = substr($output, $length)) {
            $length = strspn($output, $output[0]);
            $runs[] = $output[0] . ($length === 1 ? '' : $length);
        }
        echo "$way, $kind: ", implode($runs), " $told, $status\n";
    }
}
unlink($file);
?>
--EXPECT--
in its midst, pipe: a1000000. Async\CancellationException, goes on, 0
in its midst, socket: a1000000. Async\CancellationException, goes on, 0
before its turn, pipe: a1000000moremoremoreb1000000to2 much. Async\CancellationException, goes on, 0
before its turn, socket: a1000000moremoremoreb1000000to2 much. Async\CancellationException, goes on, 0
both, pipe: a1000000b1000000. Async\CancellationException, Async\CancellationException, goes on, 0
both, socket: a1000000b1000000. Async\CancellationException, Async\CancellationException, goes on, 0
before it began, pipe: a1000000. Async\CancellationException, goes on, 0
before it began, socket: a1000000. Async\CancellationException, goes on, 0
while calls fail, pipe: a1000000. Async\CancellationException, goes on, 0
while calls fail, socket: a1000000. Async\CancellationException, goes on, 0
