--TEST--
IO-2 standard input: a pipe that fills slowly, a file, the end of it; its mode stays as it was
--FILE--
<?php
require __DIR__ . '/kit.inc';

$php = T\interpreter();
T\work_in([
    'read.php' => <<<'PHP'
        <?php
        use function Async\{await, delay, spawn};
        touch('ready');
        $ticks = 0;
        $ticker = spawn(function() use (&$ticks) { while (true) { delay(2); if (++$ticks === 5) touch('ticked'); } });
        $reader = spawn(function() {
            $lines = [];
            while (($line = fgets(STDIN)) !== false) $lines[] = trim($line);
            return [...$lines, feof(STDIN), file_get_contents('php://stdin')];
        });
        echo json_encode(await($reader)), $ticks > 3 ? ' ticking' : '';
        // others may share the description of standard input: it must not become a non-blocking one
        preg_match('/flags:\s+0*(\d+)/', file_get_contents('/proc/self/fdinfo/0'), $m);
        echo octdec($m[1]) & 04000 ? ' NON-BLOCKING' : '', "\n";
        $ticker->cancel();
        PHP,
    'file' => "from\na file",
    'pipe.sh' => "(until [ -e ready ]; do sleep 0.01; done; echo one; until [ -e ticked ]; do sleep 0.01; done; echo two; printf three) | $php read.php",
    'file.sh' => "$php read.php < file",
    'none.sh' => "$php read.php < /dev/null",
    'closed.sh' => "$php -r 'echo strlen(Async\\await(Async\\spawn(fn() => @file_get_contents(\"php://stdin\"))));' <&-",
    'plain.sh' => escapeshellarg(PHP_BINARY) . " -n -r 'echo strlen(@file_get_contents(\"php://stdin\"));' <&-",
]);
echo T\command('sh pipe.sh');
echo str_replace(' ticking', '', T\command('sh file.sh'));
echo str_replace(' ticking', '', T\command('sh none.sh'));
// An emulator of the processor has its program open as the first descriptor that is free: then that is what plain PHP reads.
[$closed, $plain] = [(string) T\command('sh closed.sh'), (string) T\command('sh plain.sh')];
T\check('closed', $closed === $plain, [$closed, $plain]);
?>
--EXPECT--
[0] ["one","two","three",true,""] ticking
[0] ["from","a file",true,""]
[0] [true,""]
closed: yes
