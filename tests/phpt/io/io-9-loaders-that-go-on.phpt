--TEST--
IO-9 who waits for a file waits for its code, not for what its loader does then, nor for a loader that waits for oneself
--FILE--
<?php
use Async\Channel;
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in([
    'waits.php' => '<?php while (!$GLOBALS["goes_on"]) Async\suspend(); return 1;',
    'asks.php' => '<?php return $GLOBALS["channel"]->recv();',
]);

$goes_on = false;
$loader = spawn(function() use (&$other) {
    require_once 'waits.php';
    return T\until(fn() => $other->isCompleted());
});
T\begun($loader);
$other = spawn(fn() => require_once 'waits.php');
T\begun($other);
$goes_on = true;
T\check('the other one goes on', await($loader));

// its code waits for what only the other one can bring about, in a way that is not seen
$channel = new Channel;
$loader = spawn(fn() => require_once 'asks.php');
spawn(function() use ($loader, $channel) {
    T\begun($loader);
    require_once 'asks.php';
    $channel->send('told');
});
echo await($loader), "\n";
?>
--EXPECT--
the other one goes on: yes
told
