--TEST--
H6 an exception that is in flight while C code waits is its own coroutine's, with the place that it was thrown at
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$parked = true;
/** What has begun before, and goes on while the others wait. */
function beside(Closure $does): Async\Coroutine
{
    $beside = spawn(function() use ($does) {
        do suspend(); while (!$GLOBALS['parked']);
        return $does();
    });
    T\begun($beside);
    return $beside;
}
$throws = function() {
    for ($i = 0; $i < 20; $i++) {
        try {
            throw new LogicException("own $i");
        } catch (LogicException $e) {
            if ($e->getPrevious()) return 'chained to another one';
        }
        suspend();
    }
    return 'undisturbed';
};

// a resource that ends as the frames are left waits for its process
function leaves(string $text): void
{
    $process = popen('exec sleep 0.02', 'r');
    throw new RuntimeException($text);
}
$jobs = [];
for ($i = 0; $i < 4; $i++) {
    $jobs[] = beside(function() use ($i) {
        try {
            leaves("text $i");
        } catch (RuntimeException $e) {
            return $e->getMessage() === "text $i" ? 'undisturbed' : 'another one';
        }
        return 'lost';
    });
    $jobs[] = beside($throws);
}
echo implode(', ', array_unique(T\all($jobs))), "\n";

// an operand of what has thrown ends before the exception is looked for
$jobs = [];
for ($i = 0; $i < 4; $i++) {
    $jobs[] = beside(function() {
        try {
            popen('exec sleep 0.02', 'r') + [];
        } catch (TypeError $e) {
            return 'undisturbed';
        }
        return 'lost';
    });
    $jobs[] = beside($throws);
}
echo implode(', ', array_unique(T\all($jobs))), "\n";

// an autoloader is called while an exception is in flight, which the engine puts aside
$loaded = false;
spl_autoload_register(function(string $class) use (&$loaded) {
    if ($class === 'Throwing') throw new DomainException('of the autoloader');
    while ($class === 'Waiting' && !$loaded) suspend();
});
$parked = false;
$loads = beside(fn() => class_exists('Unknown') ? 'there' : 'not there');
$fetches = spawn(fn() => (new PDO('sqlite::memory:'))
    ->query("select 'Throwing', 1 union all select 'Waiting', 2")
    ->fetchAll(PDO::FETCH_CLASS | PDO::FETCH_CLASSTYPE));
T\begun($fetches);
$parked = true;
echo T\failure($loads)?->getMessage() ?? await($loads), "\n";
$loaded = true;
echo T\failure($fetches)?->getMessage(), "\n";
?>
--EXPECT--
undisturbed
undisturbed
not there
of the autoloader
