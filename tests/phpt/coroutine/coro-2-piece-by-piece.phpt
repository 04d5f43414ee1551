--TEST--
CORO-2 code that comes piece by piece (php -a, -R): coroutines live on from one piece to the next, and the end is that of the input
--EXTENSIONS--
readline
--FILE--
<?php
require __DIR__ . '/kit.inc';

// GNU's readline prints prompts and the input, Debian's PHP does not.
function without_echo(string $output, string $input): string
{
    foreach (explode("\n", rtrim($input)) as $line) {
        $output = preg_replace('/^(php > )*' . preg_quote($line, '/') . '\n/m', '', $output, 1);
    }
    return preg_replace('/^(php > )+\n?/m', '', $output);
}

$input = <<<'INPUT'
    function f($text) { while (!isset($GLOBALS['goes_on'])) Async\suspend(); throw new Exception($text); }
    $first = Async\spawn(function() { Async\delay(5); return 'awaited'; });
    echo Async\await($first), "\n";
    $c = spawn strrev('rotarepo');
    echo await $c, "\n";
    Async\spawn(f(...), 'lost');
    throw new LogicException('of a piece');
    echo "the next one\n";
    register_shutdown_function(function() { echo "shutdown function\n"; });
    $goes_on = true;

    INPUT;
echo without_echo(T\command(T\interpreter('-a'), $input), $input), "\n";

echo "--- while it waits for input\n";
$shell = proc_open('exec ' . T\interpreter('-a'), [['pipe', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
fwrite($pipes[0], "Async\\spawn(function() { for (\$i = 0; \$i < 3; \$i++) { Async\\delay(1); echo \"tick\\n\"; } });\n");
for ($ticks = 0; $ticks < 3 && ($line = fgets($pipes[1])) !== false; $ticks += trim(without_echo($line, '')) === 'tick');
fwrite($pipes[0], $input = "echo \"typed\\n\";\n");
fclose($pipes[0]);
echo "$ticks ", trim(without_echo(stream_get_contents($pipes[1]), $input)), ' ', proc_close($shell), "\n";

$spawns = ' -R ' . escapeshellarg('Async\spawn(function() use ($argn) { Async\delay(1); echo "$argn\n"; });');
$awaits = ' -R ' . escapeshellarg('Async\await(Async\spawn(f(...), $argn));');
$begins = '-B ' . escapeshellarg('function f($x) { Async\delay(1); echo "$x\n"; }');
$ends = ' -E ' . escapeshellarg('echo "end\n";');
echo "--- -R\n", T\command(T\interpreter($spawns), "a\na\n"), "\n";
echo "--- -R -E\n", T\command(T\interpreter($spawns . $ends), "a\na\n"), "\n";
echo "--- -B -R -E\n", T\command(T\interpreter($begins . $awaits . $ends), "a\na\n"), "\n";
echo "--- exit\n", T\command(T\interpreter($spawns . ' -E ' . escapeshellarg('exit(3);')), "a\na\n"), "\n";
echo "--- -r\n", T\command(T\interpreter('-r ' . escapeshellarg('Async\spawn(fn() => print("r\n"));'))), "\n";
?>
--EXPECTF--
[255] Interactive shell

awaited
operator
%AUncaught LogicException: of a piece in php shell code:1
Stack trace:
#0 {main}
  thrown in php shell code on line 1
the next one
%AUncaught Exception: lost in php shell code:1
Stack trace:
#0 [internal function]: f(%S)
#1 {main}
  in coroutine #4, spawned at php shell code:1
  thrown in php shell code on line 1
shutdown function

--- while it waits for input
3 typed 0
--- -R
[0] a
a

--- -R -E
[0] end
a
a

--- -B -R -E
[0] a
a
end

--- exit
[3] 
--- -r
[0] r
