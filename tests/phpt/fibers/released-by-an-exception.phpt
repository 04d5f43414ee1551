--TEST--
An exception that releases objects of the module reaches the catch and finally blocks of the caller
--FILE--
<?php
require __DIR__ . '/loop.inc';
use Async\Task\{Scheduler, Task};
use function Async\{await, spawn, suspend};

/** Throws and catches in its destructor, which changes what the engine notes of the exception in flight. */
final class Noise
{
    public mixed $self = null;
    public function __destruct()
    {
        try { throw new LogicException('noise'); } catch (LogicException) {}
    }
}

function noisy(): Generator { $noise = new Noise; try { while (true) yield; } finally { try { throw new LogicException; } catch (LogicException) {} } }

/** Returns objects that have something to do when they are released. */
function objects(): array
{
    return [
        'scheduler' => fn() => new Scheduler,
        'scheduler with tasks' => function() { $s = new Scheduler; $t = noisy(); $t->current(); $s->newTask($t); return $s; },
        'task' => function() { $t = noisy(); $t->current(); return new Task(1, $t); },
        'generator' => function() { $t = noisy(); $t->current(); return $t; },
        'fiber of a scheduler' => function() {
            $q = new Queue; $kept = null;
            $q->fiber(function() use ($q, &$kept) {
                try { Fiber::suspend(function($f) use (&$kept) { $kept = WeakReference::create($f); $GLOBALS['held'] = $f; }, $q); }
                finally { $noise = new Noise; }
            });
            $q->turn();
            $fiber = $GLOBALS['held'];
            unset($GLOBALS['held']);
            return $fiber;
        },
        'scope' => function() { $s = new Async\Scope; $s->onFinally(function() { $noise = new Noise; }); $s->spawn(suspend(...)); return $s; },
        'group' => function() { $g = new Async\CoroutineGroup; $g->spawn(fn() => new Noise); suspend(); return $g; },
        'future' => function() { $s = new Async\FutureState; $s->complete(new Noise); return $s; },
        'failed future' => function() { $s = new Async\FutureState; $s->error(new LogicException('unseen')); return $s; },
        'pool' => function() { $p = new Async\Pool(fn() => new Noise, fn() => new Noise); $p->release($p->acquire()); return $p; },
        'coroutine' => function() { $c = spawn(fn() => new Noise); suspend(); return $c; },
        'channel' => function() { $c = new Async\Channel(1); $c->send(new Noise); return $c; },
    ];
}

function variable(callable $make) { $object = $make(); throw new RuntimeException('thrown'); }
function later(): never { throw new RuntimeException('thrown'); }
function two($a, $b) {}
function argument(callable $make) { two($make(), later()); }
function internal(callable $make) { array_map(fn() => later(), [$make()]); }
function loop(callable $make) { foreach ([$make()] as $object) { later(); } }
function property(callable $make) { $noise = new Noise; $noise->self = $make(); later(); }
final class Wrapper { public $object; public function __construct(callable $make) { $this->object = $make(); later(); } }
function constructed(callable $make) { new Wrapper($make); }
function given($object) { throw new RuntimeException('thrown'); }
function by_argument(callable $make) { given($make()); }
function generator(callable $make) { (function() use ($make) { $object = $make(); later(); yield; })()->current(); }
function replaced(callable $make) { $object = $make(); try { later(); } finally { $object = null; } }

set_error_handler(function($no, $text) { try { throw new LogicException; } catch (LogicException) {} return true; });
foreach (['the script', 'a coroutine'] as $where) {
    $run = function() use ($where) {
        $count = 0;
        foreach (objects() as $name => $make) {
            foreach (['variable', 'argument', 'internal', 'loop', 'property', 'constructed', 'by_argument', 'generator', 'replaced'] as $how) {
                $caught = $finally = $inner = 0;
                try {
                    try {
                        $inner = 0;
                        $how($make);
                        echo "WRONG: $name, $how: goes on\n";
                    } finally {
                        $finally++;
                    }
                } catch (RuntimeException $e) {
                    $caught++;
                }
                unset($e);
                if ([$caught, $finally] !== [1, 1]) echo "WRONG: $name, $how: caught $caught, finally $finally\n";
                $count++;
            }
        }
        echo "$where: $count\n";
    };
    $where === 'the script' ? $run() : await(spawn($run));
}
?>
--EXPECT--
the script: 108
a coroutine: 108
