--TEST--
An exception of a fiber reaches the scheduler that has resumed it last
--FILE--
<?php
require __DIR__ . '/loop.inc';

print_reports();
class T implements FiberScheduler { public $d=[]; function __construct(public $n) {} public function run(): void { while ($this->d) { try { (array_shift($this->d))(); } catch (Throwable $e) { echo "in run of $this->n: ", said($e), "\n"; } } } }
$s1 = new T('S1'); $s2 = new T('S2');
$f = Fiber::create(function() use ($s1,$s2) {
   Fiber::suspend(fn($f) => $s2->d[] = function() use($f) { echo "S2 resumes\n"; $f->resume(); echo "S2 resume returned\n"; }, $s2);
   echo "f yields\n"; $GLOBALS['go']=1; Async\suspend(); echo "f throws\n"; throw new Exception('of f');
});
$g = Async\spawn(function() use ($s1) { while (!isset($GLOBALS['go'])) Async\suspend(); echo "g into S1\n"; Fiber::suspend(fn($f) => $s1->d[] = fn() => $f->resume(), $s1); echo "g back\n"; });
$s1->d[] = function() use($f) { echo "S1 starts\n"; $f->start(); echo "S1 start returned\n"; };
Fiber::suspend(fn($f) => $s1->d[] = fn() => $f->resume(), $s1);
Async\await($g);
echo "end\n";
?>
--EXPECT--
S1 starts
S2 resumes
f yields
g into S1
f throws
S1 start returned
in run of S2: Exception: of f
g back
end
