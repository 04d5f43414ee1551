--TEST--
IO-9 PHP's handler of a signal runs in the coroutine whose call was interrupted, and what it throws is thrown there
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, currentCoroutine, spawn, suspend};

require __DIR__ . '/kit.inc';

pcntl_async_signals(true);
$handled = [];
pcntl_signal(SIGUSR1, function() use (&$handled) {
    $handled[] = currentCoroutine()->getId();
    echo "from the handler\n";
    throw new Exception('thrown');
});
$stop = false;
for ($i = 0; $i < 3; $i++) { // they run all the time, with buffers of their own
    spawn(function() use (&$stop) { ob_start(fn() => ''); while (!$stop) { suspend(); usleep(50); for ($k = 0; $k < 100; $k++); } });
}
T\work_in();
$kill = fn(string $after) => shell_exec("($after; kill -USR1 " . getmypid() . ') >/dev/null 2>&1 &');
$main = currentCoroutine();
$interrupt = fn(Async\Coroutine $sleeper) => spawn(function() use ($sleeper, $kill) { T\until(fn() => ($sleeper->getAwaitingInfo()['call'] ?? '') === 'sleep'); $kill('true'); });
for ($round = 0; $round < 5; $round++) {
    $interrupt($main);
    try { sleep(600); echo "not interrupted\n"; } catch (Exception $e) { echo $e->getMessage(), "\n"; }
}
T\check('in main', array_unique($handled) === [currentCoroutine()->getId()], $handled);

// main does not wait for something outside: the longest parked call is another's
$handled = [];
$sleeper = spawn(function() { try { sleep(600); } catch (Exception $e) { return $e->getMessage(); } });
T\parked($sleeper);
$interrupt($sleeper);
echo await($sleeper), "\n";
T\check('in the sleeper', $handled === [$sleeper->getId()], $handled);

// nobody waits for something outside, and one computes without a break: it is not put off for good
$stop = true;
T\turns(20);
$handled = [];
$waits = spawn(fn() => sleep(600));
T\parked($waits);
$kill('until [ -e computes ]; do sleep 0.01; done; sleep 0.2');
$busy = spawn(function() use (&$handled) {
    try {
        touch('computes');
        for ($k = 0; !$handled && $k < 5e8; $k++); // a test that fails, instead of one that hangs
        pcntl_signal_dispatch();
        return $handled ? 'ended by itself' : 'the signal has not come';
    } catch (Exception $e) {
        return $k < 5e8 ? 'thrown in the one that computes' : 'thrown when it was asked for';
    }
});
echo await($busy), "\n";
$waits->cancel();
?>
--EXPECT--
from the handler
thrown
from the handler
thrown
from the handler
thrown
from the handler
thrown
from the handler
thrown
in main: yes
from the handler
thrown
in the sleeper: yes
from the handler
thrown in the one that computes
