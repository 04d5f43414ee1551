--TEST--
CANC-2 the script can be cancelled by a coroutine, catch it and go on
--FILE--
<?php
use function Async\{currentCoroutine, delay, spawn};

$main = currentCoroutine();
foreach (['delay' => fn() => delay(600_000), 'sleep' => fn() => sleep(600), 'suspend' => function() { while (true) Async\suspend(); }] as $name => $wait) {
    spawn(function() use ($main, $name) { delay(10); $main->cancel(new Async\CancellationException($name)); });
    try {
        $wait();
        echo "NOT REACHED\n";
    } catch (Async\CancellationException $e) {
        echo $e->getMessage(), "\n";
    }
}
delay(5);
echo "the script goes on\n";
?>
--EXPECT--
delay
sleep
suspend
the script goes on
