--TEST--
IO-9 PHP's handler of a signal runs in the coroutine whose call was interrupted, and what it throws is thrown there
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, spawn, suspend};

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
$kill = fn(string $after = '0.02') => shell_exec("(sleep $after; kill -USR1 " . getmypid() . ') >/dev/null 2>&1 &');
for ($round = 0; $round < 5; $round++) {
    $kill();
    try { sleep(10); echo "not interrupted\n"; } catch (Exception $e) { echo $e->getMessage(), "\n"; }
}
T\check('in main', array_unique($handled) === [currentCoroutine()->getId()], $handled);

// main does not wait for something outside: the longest parked call is another's
$handled = [];
$sleeper = spawn(function() { try { sleep(10); } catch (Exception $e) { return $e->getMessage(); } });
T\parked($sleeper);
$kill();
echo await($sleeper), "\n";
T\check('in the sleeper', $handled === [$sleeper->getId()], $handled);

// nobody waits for something outside, and one computes without a break: it is not put off for good
$stop = true;
delay(20);
$handled = [];
$busy = spawn(function() use (&$handled) {
    delay(200);
    try {
        for ($k = 0; !$handled && $k < 5e8; $k++); // a test that fails, instead of one that hangs
        pcntl_signal_dispatch();
        return $handled ? 'ended by itself' : 'the signal has not come';
    } catch (Exception $e) {
        return $k < 5e8 ? 'thrown in the one that computes' : 'thrown when it was asked for';
    }
});
$waits = spawn(fn() => sleep(5));
T\parked($waits);
$kill('1.2');
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
