--TEST--
Closing a pool ends waits, destroys what is free, and what is lent when it is given back; the end of the script does the same
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{AsyncException, Pool};
use function Async\{await, spawn, suspend};

$number = 0;
$make = function() use (&$number) { $thing = new stdClass; $thing->number = ++$number; return $thing; };
$destroy = function(stdClass $thing) { echo "destroy $thing->number\n"; };
$pool = new Pool($make, $destroy, max: 2);
[$one, $two] = [$pool->acquire(), $pool->acquire()];
$waiting = in_turn(fn() => $pool->acquire(), fn() => $pool->acquire());
$pool->release($one); // handed to the first one, which has not run yet
$pool->close();
foreach ($waiting as $c) echo get_class(T\failure($c)), ': ', T\failure($c)->getMessage(), "\n";
foreach ([fn() => $pool->acquire(), fn() => $pool->tryAcquire()] as $call) {
    try {
        $call();
    } catch (AsyncException $e) {
        echo $e->getMessage(), "\n";
    }
}
T\check('closed, one is lent', $pool->isClosed() && count($pool) === 1 && $pool->activeCount() === 1);
$pool->release($two);
$pool->close();
T\check('none is left', count($pool) === 0);

// Closed while a thing is made, and while it is checked.
$until_closed = function() use (&$pool) { while (!$pool->isClosed()) suspend(); };
$pool = new Pool(function() use ($make, $until_closed) { $until_closed(); return $make(); }, $destroy);
$c = spawn(fn() => $pool->acquire());
T\begun($c);
$pool->close();
echo T\failure($c)->getMessage(), ', ', count($pool), "\n";
$pool = new Pool($make, $destroy, $until_closed, max: 1);
$pool->release($pool->acquire());
$c = spawn(fn() => $pool->acquire());
T\begun($c);
$pool->close();
echo T\failure($c)->getMessage(), ', ', count($pool), "\n";

// Destructors that throw, and one that suspends.
$pool = new Pool(fn() => new stdClass, function() { suspend(); throw new LogicException('thrown'); }, min: 3);
try {
    $pool->close();
} catch (LogicException $e) {
    for ($depth = 0; $e; $e = $e->getPrevious()) $depth++;
    echo "$depth failures, ", count($pool), "\n";
}

echo T\php(<<<'PHP'
    $pool = new Async\Pool(fn() => new ArrayObject, function() { echo "destroyed\n"; }, min: 2);
    $lent = $pool->acquire();
    Async\spawn(function() use ($pool) { $lent = $pool->acquire(); Async\delay(1); echo "coroutine\n"; $pool->release($lent); });
    register_shutdown_function(fn() => print("shutdown\n"));
    PHP), "\n";
echo T\php(<<<'PHP'
    $pool = new Async\Pool(fn() => new ArrayObject, function() { echo "destroyed\n"; }, min: 2);
    Async\spawn(fn() => Async\delay(1000));
    Async\spawn(function() { Async\delay(1); exit(3); });
    PHP), "\n";
?>
--EXPECT--
destroy 1
Async\AsyncException: The pool is closed
Async\AsyncException: The pool is closed
The pool is closed
The pool is closed
closed, one is lent: yes
destroy 2
none is left: yes
destroy 3
The pool is closed, 0
destroy 4
The pool is closed, 0
3 failures, 0
[0] coroutine
shutdown
destroyed

[3] destroyed
destroyed

