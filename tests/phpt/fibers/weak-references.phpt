--TEST--
Weak references to fibers
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
$w = null;
$q->fiber(function () use ($q, &$w) { try { Fiber::suspend(function($f) use (&$w, &$kept) { $w = WeakReference::create($f); $GLOBALS['kept'] = $f; }, $q); } finally { var_dump($w->get()); } });
$q->turn();
$q->turn();
var_dump($w->get() instanceof Fiber);
$GLOBALS['kept'] = null;
var_dump($w->get());
?>
--EXPECT--
bool(true)
object(Fiber)#3 (0) {
}
NULL
