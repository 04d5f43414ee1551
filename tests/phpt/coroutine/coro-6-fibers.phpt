--TEST--
CORO-6 CORO-8 each coroutine runs PHP's own fibers of its own; one that blocks suspends the coroutine around it
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

$log = [];
$jobs = [];
foreach (['a', 'b', 'c'] as $name) {
    $jobs[$name] = spawn(function() use ($name, &$log) {
        $fiber = new Fiber(function(string $x) use ($name, &$log) {
            for ($i = 0; $i < 3; $i++) {
                $log[] = "$name$i";
                T\turns(5);
                $x = Fiber::suspend($x . $i);
                suspend();
            }
            return "$x returned";
        });
        $out = [$fiber->start($name)];
        suspend();
        while (!$fiber->isTerminated()) {
            $out[] = $fiber->resume($name);
            usleep(3000);
        }
        return [...$out, $fiber->getReturn(), Fiber::getCurrent()];
    });
}
foreach (T\all($jobs) as $result) echo json_encode($result), "\n";
$first = array_slice($log, 0, 3);
sort($first);
echo implode(' ', $first), "\n";

// an exception through both, and a fiber thrown away half done
$e = T\failure(spawn(function() {
    $fiber = new Fiber(function() { try { T\turns(5); Fiber::suspend(); } finally { suspend(); echo "the fiber's finally\n"; } });
    $fiber->start();
    $fiber->throw(new LengthException('thrown in'));
}));
echo get_class($e), "\n";
T\all([spawn(function() {
    $fiber = new Fiber(function() { try { Fiber::suspend(); } finally { echo "closed\n"; } });
    $fiber->start();
})]);
?>
--EXPECT--
["a0","a1","a2",null,"a returned",null]
["b0","b1","b2",null,"b returned",null]
["c0","c1","c2",null,"c returned",null]
a0 b0 c0
the fiber's finally
LengthException
closed
