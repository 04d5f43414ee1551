--TEST--
APP-5 APP-6 a fatal error that code asks for, and the last request that an instance may serve, cost the instance, which is booted anew
--INI--
opcache.enable_cli=1
opcache.file_update_protection=0
opcache.jit=off
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';
use function Async\{await, spawn};
T\without_deprecations();

final class Counter { public static int $requests = 0; public static ?object $kept = null; }
final class Ends { public function __construct(private ArrayObject $ended) {} public function __destruct() { $this->ended[] = Counter::$requests; } }
$log = S\log_file();
$boots = 0;
$ended = new ArrayObject;
$boot = function () use (&$boots, $ended) {
    $boots++;
    Counter::$kept = new Ends($ended);
    return function () {
        Counter::$requests++;
        match ($_SERVER['REQUEST_URI']) {
            '/fatal' => trigger_error('it is broken', E_USER_ERROR),
            '/throws' => throw new Exception('it fails'),
            '/exits' => exit('it exits'),
            default => null,
        };
        usleep(100);
        echo Counter::$requests;
    };
};
$server = S\application($boot, 2);
echo S\get($server, '/'), ' ', S\get($server, '/'), ' ', S\status(S\send($server, S\request('GET', '/fatal'))), ' ', S\get($server, '/'), "\n";
T\until(fn() => count($ended) === 1);
echo strtok(S\reports($log), "\n"), "\n";
echo "boots: $boots, the destructor saw $ended[0] requests\n";
echo json_encode(S\answers($server, 1, 1)), "\n";
foreach (['/throws', '/exits'] as $path) {
    $before = $boots;
    $answer = S\send($server, S\request('GET', $path));
    T\until(fn() => count($ended) === $before);
    S\answers($server, 4, 1);
    echo $path, ': ', S\status($answer), ', boots: ', $boots - $before, "\n";
}
$server->stop();

// One that C code is in the middle of: memory may be damaged.
$told = false;
$server = S\application(fn() => function () {
    $list = [2, 1];
    $_SERVER['REQUEST_URI'] === '/sorts' && usort($list, fn() => trigger_error('in a sort', E_USER_ERROR));
    echo 'fine';
}, 2, [], false, function () use (&$told) { $told = true; });
echo S\get($server, '/'), ' ', S\status(S\send($server, S\request('GET', '/sorts'))), ' ';
echo S\refused(fn() => Async\await($GLOBALS['runs'][$server])), ' ', json_encode($told), "\n";
S\reports($log);

$boots = 0;
$server = S\application($boot, 3, ['instance_requests' => 4]);
$answers = S\answers($server, 400, 9);
echo implode(' ', array_keys($answers)), ': ', array_sum($answers), ', boots: ', $boots >= 100 && $boots <= 103 ? 'about 100' : $boots, "\n";
$before = memory_get_usage();
S\answers($server, 2000, 9);
$more = memory_get_usage() - $before;
echo $more < 200_000 ? 'no leak' : "$more bytes more after 500 boots", "\n";
$server->stop();
?>
--EXPECT--
1 2 500 1
Fatal error:  it is broken
boots: 2, the destructor saw 3 requests
{"2":1}
/throws: 500, boots: 1
/exits: 200, boots: 1
fine 500 Async\Http\ServerException: A request has ended with a fatal error, and the others are answered: start the process again true
1 2 3 4: 400, boots: about 100
no leak
