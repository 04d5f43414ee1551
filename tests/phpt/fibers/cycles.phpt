--TEST--
Cycles of fibers and schedulers are freed
--FILE--
<?php
require __DIR__ . '/loop.inc';

// cycles: fiber <-> scheduler <-> closure
for ($i = 0; $i < 3000; $i++) {
    $q = new Queue; 
    $f = Fiber::create(function () use ($q, &$f) { Fiber::suspend(fn($x) => $q->defer(fn() => $x->resume()), $q); });
    $q->defer(fn() => $f->start());
    $q->turn(); $q->turn();
    unset($f, $q);
}
gc_collect_cycles();
var_dump(memory_get_usage() < 8e6);
?>
--EXPECT--
bool(true)
