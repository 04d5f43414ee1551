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

// A fatal error that code asks for there costs no more than in a request.
class Asks { public function __destruct() { trigger_error('asked for', E_USER_ERROR); } }
$server = S\application(fn() => function () { isset($_GET['ask']) ? (Has::$one = new Asks) && exit('asked for') : print 'served'; }, 1);
echo S\get($server, '/?ask=1'), ', then ', S\get($server, '/'), "\n";
S\stopped($server);
S\reports($log);

// The numbers of what another instance has freed of it are that one's objects now, and live on.
final class Row { public function __construct(public int $id) {} }
final class Name { public static string $of = 'script'; }
final class Order { public string $state = 'open'; public function __destruct() { $this->state = 'rolled back by ' . Name::$of; } }
$messages = new Async\Channel(10);
$ended = new Async\Channel(1);
$one = spawnInstance(function () use ($messages) { Name::$of = 'one'; for ($i = 0; $i < 3; $i++) $messages->send(new Row($i)); });
$other = spawnInstance(function () use ($messages, $ended) {
    Name::$of = 'another';
    for ($i = 0; $i < 3; $i++) {
        $message = $messages->recv();
        unset($message);
        $orders[] = new Order;
    }
    $ended->recv();
    return array_column($orders, 'state');
});
await($one);
$ended->send(1);
echo json_encode(await($other)), "\n";

// What the script frees of an instance that has ended leaves numbers for objects of the script.
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
asked for, then served
["open","open","open"]
500 of the script, an instance has 0
