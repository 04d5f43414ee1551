--TEST--
ERR-4 a timeout that nobody awaits does not put a deadlock off
--FILE--
<?php
require __DIR__ . '/kit.inc';

$start = hrtime(true);
$ended = T\php(<<<'PHP'
    use function Async\{await, currentCoroutine, spawn, timeout};
    $main = currentCoroutine();
    $unused = timeout(60_000);
    await(spawn(fn() => await($main)));
    PHP);
T\check('reported', $ended->has('DeadlockError') && $ended->status === 255, $ended);
T\check('at once', T\ms($start) < 60_000, T\ms($start));
?>
--EXPECT--
reported: yes
at once: yes
