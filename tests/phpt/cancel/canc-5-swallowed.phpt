--TEST--
CANC-5 a swallowed cancellation does not come back, blocking calls work again, and the next cancel() is a new one
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

[$a, $b] = T\pair();
$log = [];
$c = spawn(function() use (&$log, $a) {
    foreach (['one', 'two', 'three'] as $round) {
        try {
            delay(600_000);
        } catch (Async\CancellationException $e) {
            $log[] = $e->getMessage();
        }
        suspend();
        delay(2);
        usleep(2000);
        $log[] = trim(fgets($a)) . ' ' . shell_exec('printf shell');
        $log[] = await(spawn(fn() => "$round awaited"));
    }
    return 'done';
});
foreach (['first', 'second', 'third'] as $name) {
    T\parked($c);
    $c->cancel(new Async\CancellationException($name));
    T\turns(10);
    fwrite($b, "read after $name\n");
    T\until(function() use (&$log) { return count($log) > 0 && count($log) % 3 === 0; });
}
echo await($c), "\n", implode("\n", $log), "\n";
var_dump($c->isCancelled(), $c->getException());

// swallowed by a blocked function's caller: catch of everything
$greedy = spawn(function() { try { sleep(600); } catch (Throwable) {} usleep(1000); return 'went on'; });
T\parked($greedy);
$greedy->cancel();
echo await($greedy), "\n";
?>
--EXPECT--
done
first
read after first shell
one awaited
second
read after second shell
two awaited
third
read after third shell
three awaited
bool(false)
NULL
went on
