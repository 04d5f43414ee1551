--TEST--
A fiber that the cycle collector destroys runs its finally blocks to their end
--FILE--
<?php
require __DIR__ . '/loop.inc';

// a fiber in a garbage cycle, with finally that blocks
$q = new Queue;
$q->fiber(function() use ($q) { try { Fiber::suspend(function($f) { $o = new stdClass; $o->o = $o; $o->f = $f; }, $q); } finally { echo "finally\n"; usleep(1000); echo "finally 2\n"; } });
$q->turn(); $q->turn();
echo "collect\n";
echo gc_collect_cycles(), "\n";
echo "end\n";
?>
--EXPECT--
collect
1
end
finally
finally 2
