--TEST--
OBS-3 a request that has run for as long as slow_request is logged once, with its id, where its coroutines are, and their stacks
--EXTENSIONS--
ffi
--INI--
ffi.enable=1
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Server};
use function Async\{await, delay, spawn};

$log = S\log_file();
$gate = new Async\Channel;
$library = FFI::cdef('int usleep(unsigned int);'); // called past everything that would let others run
function waits(Async\Channel $gate): string
{
    return $gate->recv();
}
$handler = function (Request $request) use ($gate): string {
    switch ($request->path()) {
        case '/waits':
            $other = spawn(function () { delay(3_600_000); });
            $text = waits($gate);
            $other->cancel();
            return "$text {$request->id()}";
        case '/computes':
            do clearstatcache(); while (filesize($GLOBALS['log']) === 0);
            return "computed {$request->id()}";
        case '/blocks':
            $GLOBALS['library']->usleep(100_000);
            return "blocked {$request->id()}";
    }
    return 'quick';
};
$told = function (string $path) use ($log): array {
    T\until(fn () => str_contains(file_get_contents($log), "GET $path has run for"));
    $text = file_get_contents($log);
    file_put_contents($log, '');
    return [preg_match_all('/Slow request: /', $text), preg_replace(['/^\[[^]]*\] /', '~/\S*/~', '/#\d+ (suspended|running|queued)/', '/\d+\.\d s/', '/[0-9a-f]{32}/', '/coroutine #\d+\]/'], ['', '', '# $1', 'N s', 'ID', 'coroutine #N]'], $text), preg_match('/request ([0-9a-f]{32}), coroutine #\d+\] Slow/', $text, $found) ? $found[1] : ''];
};
$server = S\serve($handler, ['slow_request' => 0.05]);

echo "--- one that waits, and another coroutine of it\n";
$answer = spawn(fn () => S\get($server, '/waits'));
[$count, $text, $id] = $told('/waits');
echo $count, ' ', $text;
S\get($server, '/quick');
$gate->send('went on');
var_dump(await($answer) === "went on $id", file_get_contents($log));

echo "--- one that computes, so that the event loop stands still\n";
$answer = S\get($server, '/computes');
[$count, $text, $id] = $told('/computes');
echo $count, ' ', $text;
var_dump($answer === "computed $id");

echo "--- one that blocks all, so that it was not seen before it has returned\n";
$answer = S\get($server, '/blocks');
[$count, $text, $id] = $told('/blocks');
echo $count, ' ', preg_replace('/:\n  # running.*/s', ", and the event loop did not get to it meanwhile\n", $text);
var_dump($answer === "blocked $id");
$server->stop();

echo "--- without the option\n";
$server = S\serve($handler);
$answer = spawn(fn () => S\get($server, '/waits'));
delay(100);
$gate->send('went on');
await($answer);
$server->stop();
var_dump(file_get_contents($log));
echo S\refused(fn () => new Server(['slow_request' => -1])), "\n";
?>
--EXPECTF--
--- one that waits, and another coroutine of it
1 [request ID, coroutine #N] Slow request: GET /waits has run for N seconds:
  # suspended, spawned at server.inc:15, suspended at obs-3-slow-requests.php:12, waits in Channel::recv() for N s
    #0 obs-3-slow-requests.php(12): Async\Channel->recv()
    #1 obs-3-slow-requests.php(18): waits()
    #2 [internal function]: {closure%S}()
    #3 server.inc(15): Async\Http\Server::run()
  # suspended, spawned at obs-3-slow-requests.php:17, suspended at obs-3-slow-requests.php:17, waits in delay() for N s
    #0 obs-3-slow-requests.php(17): Async\delay()
    #1 [internal function]: {closure%S}()
bool(true)
string(0) ""
--- one that computes, so that the event loop stands still
1 [request ID, coroutine #N] Slow request: GET /computes has run for N seconds:
  # running, spawned at server.inc:15
    at obs-3-slow-requests.php:22
%Abool(true)
--- one that blocks all, so that it was not seen before it has returned
1 [request ID, coroutine #N] Slow request: GET /blocks has run for N seconds, and the event loop did not get to it meanwhile
bool(true)
--- without the option
string(0) ""
ValueError: The option "slow_request" must be a number of seconds, 0 for no limit
