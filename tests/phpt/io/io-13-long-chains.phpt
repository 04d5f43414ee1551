--TEST--
IO-13 a chain of waits of any length is no cycle, and a cycle of any length is one
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use function Async\{await, currentCoroutine, spawn, suspend};

require __DIR__ . '/kit.inc';
T\without_deprecations();

// The last one of so many calls $end().
function chain(int $length, Closure $end): mixed { return $length === 0 ? $end() : await(spawn(chain(...), $length - 1, $end)); }
const LENGTH = 2000;

$ticks = new T\Ticks;
$goes_on = false;
$wait = function() use (&$goes_on) { while (!$goes_on) suspend(); return 'the end'; };
$db = new PDO('sqlite::memory:');
$end = $wait;
spl_autoload_register(function($class) use (&$end) { echo "$class: ", json_encode(chain(LENGTH, $end)), "\n"; eval("class $class {}"); });
$db->sqliteCreateFunction('f', function() use (&$end) { return chain(LENGTH, $end); });
$query = function(string $what) use ($db) {
    try { return $db->query("select $what")->fetchColumn(); } catch (Async\AsyncException $e) { return preg_replace('/#\d+/', '#N', $e->getMessage()); }
};

// one that is needed meanwhile by somebody else
$loads = spawn(fn() => class_exists('Long'));
$uses = spawn($query, 'f()');
T\parked($loads, $uses);
T\until(fn() => count(Async\getCoroutines()) > 2 * LENGTH);
$others = [spawn(fn() => class_exists('Long')), spawn($query, '1')];
T\parked(...$others);
$goes_on = true;
echo json_encode([await($loads), await($uses), T\all($others)]), "\n";

// the last one needs what the first one has
$end = fn() => class_exists('Circle');
echo json_encode(await(spawn(fn() => class_exists('Circle')))), "\n";
$end = fn() => $query('1');
echo await(spawn($query, 'f()')), "\n";

// and waits for it before the first one waits for the last
$end = function() use (&$last) { $last = spawn(fn() => class_exists('Late')); T\until(fn() => ($last->getAwaitingInfo()['call'] ?? '') === 'autoload'); return await($last); };
echo json_encode(await(spawn(fn() => class_exists('Late')))), "\n";
$end = function() use (&$last, $query) { $last = spawn($query, '1'); T\until(fn() => ($last->getAwaitingInfo()['call'] ?? '') === 'locked handle'); return await($last); };
echo await(spawn($query, 'f()')), "\n";
$ticks->stop();
?>
--EXPECT--
Long: "the end"
[true,"the end",[true,1]]
Circle: false
true
PDO::query() would deadlock: coroutine #N is in the middle of PDO::query() and waits for this one
Late: false
true
PDO::query() would deadlock: coroutine #N is in the middle of PDO::query() and waits for this one
