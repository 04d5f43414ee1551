--TEST--
H14 echo, print, error logging and output handlers give way to nobody while the output takes what they write
--FILE--
<?php
require __DIR__ . '/kit.inc';

$log = tempnam(sys_get_temp_dir(), 'spindle-phpt-');
foreach (['a pipe' => '', 'a file' => ' > /dev/null'] as $name => $to) {
    $file = tempnam(sys_get_temp_dir(), 'spindle-phpt-');
    file_put_contents($file, <<<'PHP'
        <?php
        use function Async\{await, delay, spawn, suspend};
        $inside = false;
        $broken = [];
        $watch = spawn(function() use (&$inside, &$broken) { while (true) { if ($inside) $broken[$inside] = true; suspend(); } });
        suspend();
        $critical = [
            'echo' => fn() => print('x'),
            'printf' => fn() => printf('%s', 'y'),
            'error_log' => fn() => error_log('to the log'),
            'error_log to a file' => fn() => error_log("text\n", 3, ini_get('error_log')),
            'a warning' => fn() => $undefined,
            'output handler' => function() { ob_start(fn($t) => strtoupper($t), 2); echo 'abc'; echo 'def'; ob_end_flush(); },
            'var_dump' => fn() => var_dump(1),
            'flush' => fn() => flush(),
        ];
        foreach ($critical as $name => $call) {
            await(spawn(function() use ($name, $call, &$inside) {
                $inside = $name;
                for ($i = 0; $i < 300; $i++) $call();
                $inside = false;
            }));
        }
        $watch->cancel();
        fwrite(STDERR, json_encode(array_keys($broken)));
        PHP);
    $p = proc_open(T\interpreter('-d display_errors=0 -d log_errors=1 -d error_log=' . escapeshellarg($log)) . " -f $file$to", [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
    stream_get_contents($pipes[1]);
    echo "$name: ", stream_get_contents($pipes[2]), "\n";
    proc_close($p);
    unlink($file);
}
echo substr_count(file_get_contents($log), 'to the log'), ' ', substr_count(file_get_contents($log), 'Undefined variable'), "\n";
unlink($log);
?>
--EXPECT--
a pipe: []
a file: []
600 600
