--TEST--
IO-9 one file required by many coroutines at once: what it declares is there for each, and its code ran once
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in([
    'lib.php' => '<?php $GLOBALS["runs"]++; usleep(20_000); function fromLib() { return "function"; } class FromLib extends ParentOfLib {} const FROM_LIB = "constant"; return 5;',
    'parent.php' => '<?php Async\delay(10); class ParentOfLib {}',
    'value.php' => '<?php Async\suspend(); usleep(1000); return $name;',
    'broken.php' => '<?php this is no code',
]);
$runs = 0;
spl_autoload_register(function($class) { if ($class === 'ParentOfLib') require_once 'parent.php'; });
$jobs = [];
for ($i = 0; $i < 20; $i++) {
    $jobs[] = spawn(function() use ($i) {
        for ($k = 0; $k < $i % 4; $k++) suspend();
        require_once 'lib.php';
        $function = fromLib();
        return "$function " . get_parent_class('FromLib') . ' ' . FROM_LIB;
    });
}
echo implode("\n", array_unique(T\all($jobs))), "\nruns: $runs\n";

// include gives each its own variables and value
$jobs = [];
foreach (['a', 'b', 'c'] as $name) $jobs[$name] = spawn(function() use ($name) { return [include 'value.php', include 'value.php', eval('Async\suspend(); return $name;')]; });
echo json_encode(T\all($jobs)), "\n";

// a file that does not compile fails for each
for ($i = 0, $jobs = []; $i < 3; $i++) $jobs[] = spawn(fn() => get_class(T\failure(spawn(fn() => include 'broken.php'))));
echo implode(' ', T\all($jobs)), "\n";
?>
--EXPECT--
function ParentOfLib constant
runs: 1
{"a":["a","a","a"],"b":["b","b","b"],"c":["c","c","c"]}
ParseError ParseError ParseError
