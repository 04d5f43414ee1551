--TEST--
A scheduler runs its fibers to their ends after the script
--FILE--
<?php
require __DIR__ . '/loop.inc';

// a round-robin scheduler that completes its fibers when the script ends
final class RR implements FiberScheduler { public $fs=[]; public $main=null;
 public function run(): void {
   while ($this->fs || $this->main) {
     if ($this->main) { $m=$this->main; $this->main=null; $m->resume(); }
     foreach ($this->fs as $k=>$f) { 
        if (!$f->isStarted()) $f->start(); else $f->resume();
        if ($f->isTerminated()) unset($this->fs[$k]);
     }
   }
   echo "run over\n";
 } 
 public function pause() { Fiber::suspend(fn() => 0, $this); } }
$s = new RR;
for ($i=0;$i<2;$i++) $s->fs[] = Fiber::create(function() use($s,$i) { for($k=0;$k<4;$k++) { echo "f$i.$k\n"; $s->pause(); } echo "f$i done\n"; });
Fiber::suspend(fn($m) => $s->main = $m, $s);
echo "main end\n";
?>
--EXPECT--
main end
f0.0
f1.0
f0.1
f1.1
f0.2
f1.2
f0.3
f1.3
f0 done
f1 done
run over
