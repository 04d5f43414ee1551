--TEST--
A thing that user code loses makes its place free; the pool keeps no thing that is in use
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Pool;
use function Async\{await, delay, spawn, suspend};

$pool = new Pool(fn() => new ArrayObject, max: 1);
$lost = $pool->acquire();
$waiting = spawn(fn() => $pool->with(fn($thing) => 'got one'));
T\begun($waiting);
$lost = null;
T\check('a variable', await($waiting) === 'got one' && count($pool) === 1);

$holder = spawn(function() use ($pool) { $thing = $pool->acquire(); delay(1); });
T\begun($holder);
$waiting = spawn(fn() => $pool->with(fn($thing) => 'got one'));
T\check('the end of a coroutine', await($waiting) === 'got one' && $holder->isCompleted());

$lost = $pool->acquire();
$lost['self'] = $lost;
$lost = null;
$waiting = spawn(fn() => $pool->with(fn($thing) => 'got one'));
T\begun($waiting);
gc_collect_cycles();
T\check('a cycle', await($waiting) === 'got one');

// A destructor that suspends: the place is free when it has ended.
class Slow { function __destruct() { suspend(); suspend(); echo "destroyed\n"; } }
$pool = new Pool(fn() => new Slow, max: 1);
$lost = $pool->acquire();
$waiting = spawn(fn() => $pool->acquire());
T\begun($waiting);
$lost = null;
$got = await($waiting);
T\check('destroyed first', count($pool) === 1);

// Resources: noticed by the next one that asks.
$pool = new Pool(fn() => fopen('php://memory', 'r'), max: 1);
$lost = $pool->acquire();
T\check('in use', $pool->tryAcquire() === null);
$lost = null;
T\check('a resource', is_resource($pool->tryAcquire()));

// The pool itself goes while a thing is in use, or in a cycle with its callbacks.
$pool = new Pool(fn() => new stdClass, function() { echo "destroyed by the pool\n"; }, min: 2);
$kept = $pool->acquire();
$pool = null;
var_dump($kept);
$pool = new Pool(function() use (&$pool) { $thing = new stdClass; $thing->pool = $pool; return $thing; }, max: 2);
$weak = WeakReference::create($pool);
[$one, $two] = [$pool->acquire(), $pool->acquire()];
$pool->release($one);
$one = $two = $pool = null;
gc_collect_cycles();
T\check('collected', $weak->get() === null);
echo "end\n";
?>
--EXPECTF--
a variable: yes
the end of a coroutine: yes
a cycle: yes
destroyed
destroyed first: yes
in use: yes
a resource: yes
destroyed by the pool
object(stdClass)#%d (0) {
}
collected: yes
end
destroyed
