--TEST--
IO-3 a coroutine that reads files gives way to those that are ready, and their results interleave
--INI--
async.seed=0
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
T\work_in(['a' => 'text a', 'b' => 'text b']);

$log = [];
$jobs = [];
foreach (['a', 'b'] as $name) {
    $jobs[] = spawn(function() use ($name, &$log) {
        $log[] = "begin $name";
        $text = file_get_contents($name);
        $log[] = "$text";
    });
}
$log[] = 'script';
T\all($jobs);
echo implode(', ', array_slice($log, 0, 3)), "\n";
var_dump(in_array('text a', $log) && in_array('text b', $log) && count($log) === 5);
?>
--EXPECT--
script, begin a, begin b
bool(true)
