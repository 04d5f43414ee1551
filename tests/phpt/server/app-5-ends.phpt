--TEST--
APP-5 APP-3 the end of an instance has the time limit of a request, and reports what destructors throw; what others have of it is the script's
--INI--
max_execution_time=1
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';
use function Async\{await, spawnInstance};

$log = S\log_file();
class Loops { public function __destruct() { while (true) { $x = sqrt(2); } } }
class Throws { public function __destruct() { throw new Exception('could not flush the queue'); } }
class Has { public static ?object $one = null; }
$server = S\application(fn() => function () {
    $class = $_GET['class'] ?? null;
    if ($class === null) {
        echo 'served';
        return;
    }
    Has::$one = new $class;
    $_GET['at'] === 'end' ? register_shutdown_function(fn() => Has::$one = null) : null;
    exit($class);
}, 1);
foreach (['Loops&at=static', 'Loops&at=end', 'Throws&at=static'] as $query) {
    echo S\get($server, "/?class=$query"), ', then ', S\get($server, '/'), ': ', trim(preg_replace('~^.*?(Maximum[^\n]* exceeded|Uncaught[^\n]*queue).*$~s', '$1', S\reports($log))), "\n";
}
$server->stop();
$server = S\application(function () { register_shutdown_function(function () { while (true) { $x = sqrt(2); } }); return fn() => exit('of the boot'); }, 1);
echo S\get($server, '/'), ', then ', S\get($server, '/'), ': ', preg_match_all('~Maximum execution time of 1 second exceeded~', S\reports($log)) >= 1 ? 'ended' : 'not ended', "\n";
S\stopped($server);
S\reports($log);

// What the script frees of an instance that has ended leaves numbers for objects of the script.
final class Row { public function __construct(public int $id) {} }
final class Log { public static array $closed = []; }
final class Node
{
    public ?Node $self = null;
    public function __construct(public string $name) { $this->self = $this; }
    public function __destruct() { Log::$closed[] = $this->name; }
}
$rows = await(spawnInstance(fn() => array_map(fn($id) => new Row($id), range(1, 500))));
unset($rows);
for ($i = 1; $i <= 500; $i++) new Node("node $i of the script");
gc_collect_cycles();
echo count(Log::$closed), ' of the script, an instance has ', await(spawnInstance(fn() => count(Log::$closed))), "\n";
?>
--EXPECT--
Loops, then served: Maximum execution time of 1 second exceeded
Loops, then served: Maximum execution time of 1 second exceeded
Throws, then served: Uncaught Exception: could not flush the queue
of the boot, then of the boot: ended
500 of the script, an instance has 0
