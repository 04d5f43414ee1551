--TEST--
Fibers of PHP in a fiber of a scheduler, and the other way round
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
$f = $q->fiber(function () use ($q) {
    $n = new Fiber(function () use ($q) { echo "n1\n"; $x = Fiber::suspend(1); echo "n2 $x\n"; echo $q->turn('in native'), "\n"; Fiber::suspend(2); });
    var_dump($n->start()); var_dump($n->resume('x')); $n->resume();
    echo "done\n";
});
$q->turn(); $q->turn(); $q->turn(); $q->turn();
echo "end\n";
$n = new Fiber(function () use ($q) { $q->turn(); echo "back\n"; });
$n->start(); var_dump($n->isTerminated());
?>
--EXPECT--
n1
int(1)
n2 x
in native
int(2)
done
end
back
bool(true)
