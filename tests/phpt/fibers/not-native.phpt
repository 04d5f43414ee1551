--TEST--
What a fiber of a scheduler is not: PHP's own suspension, clones, serialization, a second constructor
--FILE--
<?php
require __DIR__ . '/loop.inc';

// FiberError of PHP's own
try { Fiber::suspend(1); } catch (FiberError $e) { echo said($e), "\n"; }
$q = new Queue;
$q->fiber(function () { try { Fiber::suspend(1); } catch (FiberError $e) { echo said($e), "\n"; } var_dump(Fiber::getCurrent()); });
$q->turn();
try { clone Fiber::create(fn() => 1); } catch (Error $e) { echo said($e), "\n"; }
try { serialize(Fiber::create(fn() => 1)); } catch (Exception $e) { echo said($e), "\n"; }
$f = Fiber::create(fn() => 1);
try { $f->__construct(fn() => 2); } catch (Error $e) { echo said($e), "\n"; }
var_dump($f);
class Mine extends ArrayObject {}
?>
--EXPECT--
FiberError: Cannot suspend outside of a fiber
FiberError: Cannot suspend outside of a fiber
NULL
Error: Trying to clone an uncloneable object of class Fiber
Exception: Serialization of 'Fiber' is not allowed
Error: Cannot call constructor twice
object(Fiber)#3 (0) {
}
