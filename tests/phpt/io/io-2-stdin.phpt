--TEST--
IO-2 standard input: a pipe that fills slowly, a file, the end of it
--FILE--
<?php
require __DIR__ . '/../kit.inc';

$code = <<<'PHP'
    use function Async\{await, delay, spawn};
    $ticks = 0;
    $ticker = spawn(function() use (&$ticks) { while (true) { delay(2); $ticks++; } });
    $reader = spawn(function() {
        $lines = [];
        while (($line = fgets(STDIN)) !== false) $lines[] = trim($line);
        return [...$lines, feof(STDIN), file_get_contents('php://stdin')];
    });
    echo json_encode(await($reader)), $ticks > 3 ? " ticking\n" : "\n";
    $ticker->cancel();
    PHP;
file_put_contents($file = tempnam(sys_get_temp_dir(), 'spindle-phpt-'), "<?php\n$code");
$run = T\interpreter() . " -f $file";
echo T\command("sh -c '(echo one; sleep 0.05; echo two; sleep 0.05; printf three) | " . str_replace("'", "'\\''", $run) . "'");
echo "\n", preg_replace('/ ticking/', '', T\php($code, '', "from\na file"));
// what was O_NONBLOCK or not stays so, others share the description
$out = T\command("sh -c 'sleep 0.2 | " . str_replace("'", "'\\''", T\interpreter()) . " -r '\\''Async\\await(Async\\spawn(fn() => fgets(STDIN))); echo preg_match(\"/flags:\\s+0*(\\d+)/\", file_get_contents(\"/proc/self/fdinfo/0\"), \$m) ? (octdec(\$m[1]) & 04000) : \"?\";'\\'''");
echo "\n$out\n";
unlink($file);
?>
--EXPECT--
[0] ["one","two","three",true,""] ticking

[0] ["from","a file",true,""]

[0] 0
