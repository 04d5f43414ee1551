--TEST--
A destructor that the cycle collector calls reflects a scheduler whose fiber's object the collector frees
--FILE--
<?php
require __DIR__ . '/loop.inc';

/** Garbage with a destructor. */
final class Garbage
{
    public mixed $refers = null;
    public function __construct(private Closure $last, mixed $refers = null) { $this->refers = [$this, $refers]; }
    public function __destruct() { ($this->last)(); }
}

$q = new Queue;
$q->turn();
$kept = null;
new Garbage(function() use ($q, &$kept) {
    // In the next pass the other one is garbage without a destructor.
    new Garbage(function() use ($q, &$kept) { $kept = (new ReflectionFiberScheduler($q))->getFiber(); });
}, (new ReflectionFiberScheduler($q))->getFiber());
gc_collect_cycles();
$others = [new Fiber(fn() => 1), new Fiber(fn() => 1)];
var_dump($kept->isRunning(), (new ReflectionFiberScheduler($q))->getFiber() === $kept);
$q->turn();
unset($kept);
var_dump((new ReflectionFiberScheduler($q))->isRunning());
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
