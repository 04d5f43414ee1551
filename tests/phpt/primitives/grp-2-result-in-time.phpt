--TEST--
GRP-2 a result that was returned in time is not lost while others keep the caller from running until the limit has passed
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';

// Each in a process of its own, in which nothing else waits.
$busy = <<<'PHP'
    use function Async\{delay, globalScope, map, timeout, withTimeout};
    /** Computes for longer than the limits, and lets the event loop be polled meanwhile. */
    function busy(): void
    {
        for ($i = 0; $i < 200; $i++) {
            globalScope()->spawn(function () {
                for ($end = hrtime(true) + 3_000_000; hrtime(true) < $end;);
                delay(0);
            });
        }
    }
    PHP;
echo T\php("$busy echo withTimeout(200, function () { busy(); return 'returned'; });"), "\n";
echo T\php("$busy echo json_encode(map([1, 2], function (\$n) { static \$calls = 0; ++\$calls === 2 && busy(); return \$n; }, cancellation: timeout(200)));"), "\n";
// One that is too late, also by computing, is cut.
echo T\php("$busy try { withTimeout(200, function () { busy(); usleep(0); return 'returned'; }); } catch (Async\TimeoutException \$e) { echo \$e->getMessage(); }"), "\n";
?>
--EXPECT--
[0] returned
[0] [1,2]
[0] The call was given up after 200 ms
