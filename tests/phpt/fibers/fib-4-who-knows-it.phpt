--TEST--
FIB-4 In a coroutine code of the namespaces and classes that async.fiber_identity names gets the coroutine's Fiber, all other null
--INI--
async.fiber_identity=" named\Space , Only\This , a\function_of_it "
--FILE--
<?php
namespace Named\Space {
    function current(): ?\Fiber { return \Fiber::getCurrent(); }
    class Logger { 
        public function current(): ?\Fiber { return \Fiber::getCurrent(); }
        public function closure(): \Closure { return static fn() => \Fiber::getCurrent(); }
    }
    // In a function: with PHP 8.4 the name of one at the top level of a file does not have the namespace.
    function closure(): \Closure { return fn() => \Fiber::getCurrent(); }
}
namespace Named\Space\Below { function current(): ?\Fiber { return \Fiber::getCurrent(); } }
namespace Named\SpaceShip { function current(): ?\Fiber { return \Fiber::getCurrent(); } }
namespace Named { function current(): ?\Fiber { return \Fiber::getCurrent(); } }
namespace Only {
    class This { public static function current(): ?\Fiber { return \Fiber::getCurrent(); } }
    class Thistle { public static function current(): ?\Fiber { return \Fiber::getCurrent(); } }
}
namespace A {
    function function_of_it(): ?\Fiber { return \call_user_func('Fiber::getCurrent'); }
    function other(): ?\Fiber { return \call_user_func('Fiber::getCurrent'); }
}
namespace {
    use function Async\{await, spawn, suspend};

    final class Mine extends Named\Space\Logger { 
        public function mine(): ?Fiber { return Fiber::getCurrent(); }
    }
    $all = fn() => [
        'function' => Named\Space\current(), 'method' => (new Mine)->current(), 'closure of a method' => (new Mine)->closure()(), 'closure' => Named\Space\closure()(),
        'below' => Named\Space\Below\current(), 'class' => Only\This::current(), 'called by the engine' => A\function_of_it(),
        'no' => [Named\SpaceShip\current(), Named\current(), Only\Thistle::current(), A\other(), (new Mine)->mine(), Fiber::getCurrent()],
    ];
    $show = function(array $found, ?Fiber $expected) {
        foreach ($found as $name => $fiber) {
            echo $name, ': ', match (true) {
                is_array($fiber) => count(array_filter($fiber, is_null(...))) . ' times null',
                $fiber === null => 'null',
                $fiber === $expected => 'it',
                default => 'ANOTHER',
            }, "\n";
        }
    };

    echo "main\n";
    $show($all(), null);
    echo "coroutine\n";
    [$found, $own, $other] = await(spawn(function() use ($all) {
        $found = $all();
        $own = Only\This::current();
        $other = await(spawn(Only\This::current(...)) );
        suspend();
        return [[...$found, 'later' => Only\This::current()], $own, $other];
    }));
    $show($found, $own);
    var_dump($other); // no code of PHP's own calls it there but This::current() itself
    echo "main again\n";
    $show(['function' => Named\Space\current()], null);
    echo "a fiber in it\n";
    await(spawn(function() use ($all, $show) {
        $fiber = new Fiber(fn() => $show($all(), Fiber::getCurrent()));
        $fiber->start();
    }));
}
?>
--EXPECTF--
main
function: null
method: null
closure of a method: null
closure: null
below: null
class: null
called by the engine: null
no: 6 times null
coroutine
function: it
method: it
closure of a method: it
closure: it
below: it
class: it
called by the engine: it
no: 6 times null
later: it
object(Fiber)#%d (0) {
}
main again
function: null
a fiber in it
function: it
method: it
closure of a method: it
closure: it
below: it
class: it
called by the engine: it
no: 0 times null
