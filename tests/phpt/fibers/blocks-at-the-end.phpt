--TEST--
A fiber that blocks when the script ends runs to its end
--FILE--
<?php
require __DIR__ . '/loop.inc';

// no finishing tricks: main has ended while a fiber is in usleep()
$q = new Queue;
Async\spawn(function() use ($q) {
  $q->defer(fn() => Fiber::create(function() { try { echo "in\n"; usleep(20000); echo "slept\n"; } finally { echo "finally\n"; } })->start());
  $m=null;
  Fiber::suspend(function($f) use ($q) { array_unshift($q->deferred, fn() => $f->resume()); }, $q);
  echo "c ends\n";
});
echo "main end\n";
?>
--EXPECT--
main end
c ends
in
slept
finally
