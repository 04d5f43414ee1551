--TEST--
A fiber that loses its object when it suspends is destroyed
--FILE--
<?php
require __DIR__ . '/loop.inc';

// in finishing, resume() returns at once; the fiber loses its object while it runs, and then suspends with an enqueue that drops it
$q = new Queue;
$m=null;
$q->defer(function() use (&$m) { $m->resume(); });
$q->defer(function() use ($q) { Fiber::create(function() use($q) { try { echo "in\n"; Fiber::suspend(fn() => 0, $q); echo "WRONG\n"; } finally { echo "finally\n"; } })->start(); });
Fiber::suspend(function($f) use (&$m) { $m=$f; }, $q);
echo "main end\n";
?>
--EXPECT--
main end
in
finally
