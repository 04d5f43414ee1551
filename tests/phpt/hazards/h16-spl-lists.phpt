--TEST--
H16 lists of SPL whose overridden count() suspends in isEmpty(), while others change them
--FILE--
<?php
use function Async\{await, spawn, suspend};

class Slow extends SplQueue
{
    public int $calls = 0;
    public function count(): int
    {
        $this->calls++;
        suspend();
        suspend();
        return parent::count();
    }
}
$queue = new Slow;
for ($i = 0; $i < 50; $i++) $queue->enqueue([$i]);
$taken = [];
$jobs = [];
for ($job = 0; $job < 4; $job++) {
    $jobs[] = spawn(function () use ($queue, &$taken) {
        while (!$queue->isEmpty()) {
            try {
                $taken[] = $queue->dequeue()[0];
            } catch (RuntimeException) { // another one has taken the last
            }
        }
    });
}
$jobs[] = spawn(function () use ($queue) {
    for ($i = 50; $i < 60; $i++) {
        $queue->push([$i]);
        suspend();
        if ($queue->valid() && isset($queue[0])) $queue->top();
    }
});
foreach ($jobs as $job) await($job);
sort($taken);
echo $taken === range(0, 59) ? "each once\n" : json_encode($taken), $queue->calls > 60 ? "asked\n" : '';
?>
--EXPECT--
each once
asked
