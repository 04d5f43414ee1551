--TEST--
APP-1 instances are booted when they are needed, serve one request at a time, and others wait; a boot that fails is tried again
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';
use Async\Http\Server;
use function Async\{await, spawn};

$log = S\log_file();
echo "Bad arguments\n";
foreach ([0, -1, 4097] as $instances) {
    echo S\refused(fn() => (new Server)->application(fn() => fn() => null, $instances)), "\n";
}
echo S\refused(fn() => (new Server)->application('no_such_function')), "\n";

echo "One request at a time\n";
$booted = new ArrayObject;
$busy = new ArrayObject;
$most = new ArrayObject(['at once' => 0]);
$open = new ArrayObject(['door' => false]);
$server = S\application(function (int $instance) use ($booted, $busy, $most, $open) {
    $booted[] = $instance;
    return function () use ($instance, $busy, $most, $open) {
        isset($busy[$instance]) and print 'two at once';
        $busy[$instance] = true;
        $most['at once'] = max($most['at once'], count($busy));
        while (!$open['door']) {
            usleep(100);
        }
        unset($busy[$instance]);
        echo 'served';
    };
}, 3);
$clients = [];
for ($i = 0; $i < 9; $i++) {
    $clients[] = spawn(S\get(...), $server, '/');
}
T\until(fn() => count($busy) === 3 && $server->stats()['queued'] === 6);
echo 'running: ', count($busy), ', queued: ', $server->stats()['queued'], "\n";
$open['door'] = true;
echo json_encode(array_count_values(T\all($clients))), ', booted: ', implode(' ', S\sorted((array) $booted)), ', at once: ', $most['at once'], "\n";
echo 'one after the other needs one: ', json_encode(S\answers($server, 5, 1)), ', booted: ', count($booted), "\n";
$server->stop();

echo "A boot that fails\n";
$attempts = 0;
$server = S\application(function () use (&$attempts) {
    if (++$attempts < 3) {
        throw new RuntimeException("attempt $attempts");
    }
    return fn() => print 'booted at last';
}, 1);
$answer = S\send($server, S\request('GET', '/'));
echo S\status($answer), ' ', S\reports($log) !== '' ? 'reported' : 'not reported', "\n";
T\until(fn() => S\get($server, '/') === 'booted at last');
echo "attempts: $attempts\n";
$server->stop();
S\reports($log);

foreach (['returns nothing' => fn() => null, 'exits' => fn() => exit, 'throws' => fn() => throw new Exception('no database')] as $what => $boot) {
    $server = S\application($boot, 2);
    echo "it $what: ", S\status(S\send($server, S\request('GET', '/'))), ', ', strtok(S\reports($log), "\n"), "\n";
    $server->stop();
}

echo "All before the first request\n";
$booted = new ArrayObject;
$server = S\application(function (int $instance) use ($booted) {
    usleep(100);
    $booted[] = $instance;
    return fn() => print 'x';
}, 3, [], true);
T\until(fn() => count($booted) === 3);
echo S\get($server, '/'), ' ', count($booted), "\n";
$server->stop();
$server = (new Server)->listen('127.0.0.1:0')->application(fn() => throw new Exception('never'), 2, eager: true);
echo S\refused(fn() => $server->run()), "\n";
echo substr_count(S\reports($log), 'Uncaught Exception: never'), " reports\n";

echo "What exists already\n";
final class Registry { public static array $services = []; public static ?object $kind = null; }
Registry::$services = ['a' => [new ArrayObject]];
set_error_handler(fn(int $level, string $text) => throw new ErrorException($text)); // as test frameworks do
$server = S\application(fn() => fn() => print count(Registry::$services['a'][0]), 2);
echo S\get($server, '/'), ' ', S\reports($log), "\n";
$server->stop();
Registry::$services = ['a' => fn() => 1];
$server = S\application(fn() => fn() => print Registry::$services['a'](), 2);
echo S\get($server, '/'), ' ', S\reports($log), "\n";
$server->stop();

Registry::$services = ['a' => new ArrayObject];
echo await(Async\spawnInstance(fn() => 'in an instance')), "\n";
restore_error_handler();

echo "Not with statics of requests\n";
echo T\php('class A { static $b; } try { (new Async\Http\Server)->listen("127.0.0.1:0")->application(fn() => fn() => 1)->run(); } catch (Throwable $t) { echo $t->getMessage(); }', '-d async.request_statics=A::b')->output, "\n";
?>
--EXPECTF--
Bad arguments
ValueError: Server::application(): Argument #2 ($instances) must be between 1 and 4096
ValueError: Server::application(): Argument #2 ($instances) must be between 1 and 4096
ValueError: Server::application(): Argument #2 ($instances) must be between 1 and 4096
TypeError: %sapplication(): Argument #1 ($boot) must be a valid callback, function "no_such_function" not found or invalid function name
One request at a time
running: 3, queued: 6
{"served":9}, booted: 0 1 2, at once: 3
one after the other needs one: {"served":5}, booted: 3
A boot that fails
503 reported
attempts: 3
it returns nothing: 503, Fatal error:  Uncaught Error: The boot of an instance must return what handles its requests: a callable%S
it exits: 503, Warning:  The boot of an instance has exited%S
it throws: 503, Fatal error:  Uncaught Exception: no database%S
All before the first request
x 3
Async\Http\ServerException: No instance of the application could be booted: the errors above say why
2 reports
What exists already
0 All instances share the objects that exist already, in Registry::$services: make them in the boot
1 
in an instance
Not with statics of requests
async.request_statics is for worker mode: each instance of an application has all static properties for itself
