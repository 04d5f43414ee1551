--TEST--
CORO-8 an error handler that suspends: the errors of others meanwhile still reach it
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

$log = [];
set_error_handler(function(int $level, string $text) use (&$log) {
    $log[] = "$text begins";
    T\turns(30);
    $log[] = "$text ends";
    return true;
});
$jobs = [];
foreach (['a', 'b', 'c'] as $name) {
    $jobs[] = spawn(function() use ($name, &$log) {
        echo $undefined[$name] ?? '', $$name;
        $log[] = "$name goes on";
    });
}
T\all($jobs);
$begun = array_slice($log, 0, 3);
$ended = array_chunk(array_slice($log, 3), 2);
sort($begun);
sort($ended);
foreach ([...$begun, ...array_merge(...$ended)] as $line) echo $line, "\n";
?>
--EXPECT--
Undefined variable $a begins
Undefined variable $b begins
Undefined variable $c begins
Undefined variable $a ends
a goes on
Undefined variable $b ends
b goes on
Undefined variable $c ends
c goes on
