--TEST--
Fibers that are suspended at the end of the script are destroyed
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
class D { function __construct(public $n) {} function __destruct() { echo "~$this->n\n"; } }
$GLOBALS['k'] = [];
for ($i = 0; $i < 3; $i++) $q->fiber(function () use ($q, $i) { $d = new D($i); try { Fiber::suspend(function($f) { $GLOBALS['k'][] = $f; }, $q); } finally { echo "finally $i\n"; } });
$q->turn();
echo "end\n";
?>
--EXPECT--
end
finally 0
~0
finally 1
~1
finally 2
~2
