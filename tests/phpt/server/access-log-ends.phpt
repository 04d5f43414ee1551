--TEST--
Async\Http: the access log when run() ends or is cancelled: nothing is lost, and the order stays
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Server};
use Async\{Channel, Scope};
use function Async\{await, delay, spawn};

$log = S\log_file();
$seen = new ArrayObject;
$gate = new Channel;
$make = function ($to): Server {
    $server = (new Server)->listen('127.0.0.1:0')->accessLog($to, ...(is_resource($to) ? ['json'] : []));
    return $server->handle(fn(Request $r) => $r->path() === '/slow' ? delay(3_600_000) : $r->path());
};
$slow_first = function (array $entry) use ($seen, $gate) {
    $seen[] = "begin {$entry['target']} {$entry['status']}";
    if ($entry['target'] === '/first') $gate->recv();
    $seen[] = "end {$entry['target']}";
};
$begin = function (Server $server, callable $run): mixed {
    global $seen;
    $seen->exchangeArray([]);
    $running = $run($server->run(...));
    S\get($server, '/first');
    T\until(fn() => count($seen) === 1);
    S\get($server, '/second');
    T\until(fn() => $server->stats()['connections'] === 0);
    return $running;
};
$slow = function (Server $server) {
    fwrite($client = S\connect($server), S\request('GET', '/slow'));
    T\until(fn() => $server->stats()['running'] === 1);
    return $client;
};

echo "--- run() ends while a line is being written\n";
$running = $begin($server = $make($slow_first), spawn(...));
$server->stop();
T\turns(20);
echo implode(', ', (array) $seen), "\n";
$gate->send(1);
await($running);
echo implode(', ', (array) $seen), "\n";

echo "--- run() is cancelled\n";
$running = $begin($server = $make($slow_first), spawn(...));
$client = $slow($server);
$running->cancel();
echo S\refused(fn() => await($running)), "\n", implode(', ', (array) $seen), "\n";
$gate->send(1);
T\until(fn() => count($seen) === 6);
echo implode(', ', (array) $seen), "\n";

echo "--- the scope of run() is cancelled\n";
$scope = new Scope;
$scope->setExceptionHandler(fn() => null);
$begin($server = $make($slow_first), $scope->spawn(...));
$client = $slow($server);
$scope->cancel();
T\until(fn() => count($seen) === 5);
echo implode(', ', (array) $seen), "\n";

echo "--- likewise, and nothing is written yet\n";
$file = fopen('php://memory', 'w+');
$server = $make($file);
$scope = new Scope;
$scope->setExceptionHandler(fn() => null);
$running = $scope->spawn($server->run(...));
$client = $slow($server);
$scope->cancel();
echo S\refused(fn() => await($running)), "\n";
rewind($file);
$entry = json_decode(fgets($file), true);
echo "{$entry['target']} {$entry['status']}\n";
var_dump(fgets($file), $server->stats()['unlogged']);

echo "--- a function that throws a cancellation does not end it\n";
$seen->exchangeArray([]);
$server = $make(function (array $entry) use ($seen, $gate) {
    $seen[] = $entry['target'];
    if ($entry['target'] === '/first') $gate->recv();
    throw new Async\CancellationException('thrown by the function');
});
$running = $begin($server, spawn(...));
$server->stop();
$gate->send(1);
var_dump(await($running));
echo implode(', ', (array) $seen), "\n", S\reports($log);
?>
--EXPECTF--
--- run() ends while a line is being written
begin /first 200
begin /first 200, end /first, begin /second 200, end /second
--- run() is cancelled
Async\CancellationException: cancelled at %s
begin /first 200
begin /first 200, end /first, begin /second 200, end /second, begin /slow 499, end /slow
--- the scope of run() is cancelled
begin /first 200, begin /second 200, end /second, begin /slow 499, end /slow
--- likewise, and nothing is written yet
Async\CancellationException: cancelled at %s
/slow 499
bool(false)
int(0)
--- a function that throws a cancellation does not end it
NULL
/first, /second
