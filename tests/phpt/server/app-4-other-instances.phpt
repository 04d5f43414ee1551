--TEST--
APP-4 a request that computes gives way to other instances, and to no other coroutine of its own
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';
use function Async\{await, spawn};

$quick = new ArrayObject;
$server = S\application(fn() => function () use ($quick) {
    if ($_SERVER['REQUEST_URI'] === '/quick') {
        echo $quick->append(1) ?? 'quick';
        return;
    }
    $ran = false;
    $own = spawn(function () use (&$ran) { $ran = true; });
    for ($before = count($quick); count($quick) < $before + 3; );
    echo $ran ? 'its own coroutine has run' : 'only others have run';
    await($own);
}, 2);
$computes = spawn(S\get(...), $server, '/computes');
while (!$computes->isCompleted()) {
    S\get($server, '/quick');
}
echo await($computes), "\n";
$server->stop();
?>
--EXPECT--
only others have run
