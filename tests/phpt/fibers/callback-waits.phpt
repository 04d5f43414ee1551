--TEST--
A fiber is resumed when its callback, which waits, has returned
--FILE--
<?php
require __DIR__ . '/loop.inc';

/** Runs until it is told to end. */
final class Loop implements FiberScheduler
{
    public array $deferred = [];
    public bool $ends = false;

    public function run(): void
    {
        while (!$this->ends) {
            $this->deferred ? (array_shift($this->deferred))() : Async\suspend();
        }
    }
}

$loop = new Loop;
$other = Async\spawn(function() use ($loop) {
    for ($i = 0; $i < 10; $i++) {
        Fiber::suspend(fn(Fiber $fiber) => $loop->deferred[] = fn() => $fiber->resume(), $loop);
    }
    echo "other\n";
});
Async\suspend();
echo Fiber::suspend(function(Fiber $fiber) use ($loop) {
    $loop->deferred[] = fn() => $fiber->resume('resumed');
    usleep(1000); // the scheduler runs, for the other coroutine
    echo "callback\n";
}, $loop), "\n";
Async\await($other);
$loop->ends = true;
?>
--EXPECT--
callback
resumed
other
