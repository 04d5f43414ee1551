--TEST--
Exceptions go into fibers, and out of them to what has resumed them
--FILE--
<?php
require __DIR__ . '/loop.inc';

final class T implements FiberScheduler { public $d = []; public function run(): void { while ($this->d) { try { (array_shift($this->d))(); } catch (Throwable $e) { echo "in run: ", said($e), "\n"; } } } }
$t = new T;
$f = Fiber::create(function () use ($t) { Fiber::suspend(fn($f) => $t->d[] = fn() => $f->throw(new Exception('thrown into')), $t); });
$t->d[] = fn() => $f->start();
$r = Fiber::suspend(fn($m) => $t->d[] = fn() => ($t->d[] = fn() => ($t->d[] = fn() => $m->resume('main'))), $t);
var_dump($r);
try { Fiber::suspend(function($m) { throw new DomainException('enqueue'); }, $t); } catch (DomainException $e) { echo said($e), "\n"; }
?>
--EXPECT--
in run: Exception: thrown into
string(4) "main"
DomainException: enqueue
