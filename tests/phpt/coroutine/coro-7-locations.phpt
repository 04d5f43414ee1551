--TEST--
CORO-7 where it was spawned and where it waits: in functions, callbacks, eval and included files
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';
$dir = T\work_in(['inc.php' => "<?php\n\nreturn Async\\spawn(function() {\n    usleep(200_000);\n});\n"]);

function places(Async\Coroutine $c): string
{
    [$file, $line] = $c->getSpawnFileAndLine();
    assert($c->getSpawnLocation() === "$file:$line");
    [$file, $line] = $c->getSuspendFileAndLine();
    assert($c->getSuspendLocation() === ($line ? "$file:$line" : ''));
    return preg_replace('~[^ ]*/~', '', $c->getSpawnLocation() . ' | ' . $c->getSuspendLocation());
}

function waits(): void
{
    do suspend(); while (!$GLOBALS['go']);
    (function() {
        delay(30);
    })();
    usleep(
        30_000
    );
}

$jobs = [
    spawn('waits'),
    call_user_func('Async\spawn', 'waits'),
    array_map(
        fn($task) => spawn($task), ['waits']
    )[0],
    eval("\nreturn Async\\spawn('waits');"),
    include "$dir/inc.php",
    (function() { return spawn(fn() => array_map(function() { do suspend(); while (!$GLOBALS['go']); }, [1])); })(),
];
$never = spawn(fn() => 1);
var_dump($never->getSuspendFileAndLine(), $never->getSuspendLocation());
foreach ($jobs as $job) echo places($job), "\n";
$go = false;
T\begun(...$jobs);
echo "first\n";
foreach ($jobs as $job) echo places($job), "\n";
$go = true;
while ($jobs[0]->getSuspendFileAndLine()[1] === 18) suspend();
echo "second\n";
echo places($jobs[0]), "\n";
T\until(fn() => $jobs[0]->getSuspendFileAndLine()[1] >= 22);
echo "third\n";
echo preg_replace('/:2[2-4]$/', ':22', places($jobs[0])), "\n";
?>
--EXPECT--
array(2) {
  [0]=>
  string(0) ""
  [1]=>
  int(0)
}
string(0) ""
coro-7-locations.php:28 | 
coro-7-locations.php:29 | 
coro-7-locations.php:31 | 
coro-7-locations.php(33) : eval()'d code:2 | 
inc.php:3 | 
coro-7-locations.php:35 | 
first
coro-7-locations.php:28 | coro-7-locations.php:18
coro-7-locations.php:29 | coro-7-locations.php:18
coro-7-locations.php:31 | coro-7-locations.php:18
coro-7-locations.php(33) : eval()'d code:2 | coro-7-locations.php:18
inc.php:3 | inc.php:4
coro-7-locations.php:35 | coro-7-locations.php:35
second
coro-7-locations.php:28 | coro-7-locations.php:20
third
coro-7-locations.php:28 | coro-7-locations.php:22
