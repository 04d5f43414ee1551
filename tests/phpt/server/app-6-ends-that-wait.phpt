--TEST--
APP-6 what waits at the end of an instance for longer than a request may is cancelled, each time, and when the server stops
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';

$log = S\log_file();
final class Has { public static array $all = []; }
final class Waits
{
    public function __construct(private string $for) {}
    public function __destruct()
    {
        $this->for === 'sleep' ? sleep(1000) : (new Async\Channel(0))->recv();
    }
}
$serve = fn(float $limit) => S\application(fn() => function () {
    if (isset($_GET['ends'])) {
        Has::$all = [new Waits('sleep'), new Waits('message'), new Waits('sleep')];
        exit('exits');
    }
    echo 'served';
}, 1, ['request_timeout' => $limit, 'cancel_grace' => 0.05]);

// One that is not cut lets no other request have its place. The end of one may take longer than the next request may wait.
$server = $serve(2);
echo S\get($server, '/?ends=1');
do {
    $answer = S\get($server, '/');
} while ($answer !== 'served');
echo ", then $answer: ", substr_count(S\reports($log), 'The end of the instance waits for too long'), "\n";
S\stopped($server);

// Without that limit, an instance has until the server stops.
$server = $serve(0);
echo S\get($server, '/?ends=1');
S\stopped($server);
echo ', then stopped: ', substr_count(S\reports($log), 'The end of the instance waits for too long'), "\n";
?>
--EXPECT--
exits, then served: 3
exits, then stopped: 3
