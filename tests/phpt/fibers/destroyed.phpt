--TEST--
A suspended fiber without references is destroyed: finally blocks, destructors, and what they throw
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
class D { function __construct(public $n) {} function __destruct() { echo "~$this->n\n"; } }
$kept = null;
$f = Fiber::create(function () use (&$kept, $q) { $d = new D('local'); try { Fiber::suspend(function($f) use (&$kept) { $kept = $f; }, $q); } finally { echo "finally\n"; throw new Exception('from finally'); } });
$q->defer(function () use (&$f) { $f->start(); $f = null; });
$q->turn(); $q->turn();
try { $kept = null; echo "not reached?\n"; } catch (Exception $e) { echo said($e), "\n"; }
// suspended by nobody keeping it: destroyed in suspend
$g = $q->fiber(function () use ($q) { $d = new D('g'); try { Fiber::suspend(function($f) {}, $q); echo "WRONG\n"; } finally { echo "g finally\n"; } });
$g = null;
$q->turn(); $q->turn();
echo "end\n";
?>
--EXPECT--
finally
~local
Exception: from finally
g finally
~g
end
