--TEST--
FIB-4 Fiber::suspend() parks a coroutine until something resumes its Fiber, which does not wait for it
--INI--
async.fiber_identity=1
--FILE--
<?php
require __DIR__ . '/loop.inc';
use function Async\{await, spawn, suspend};
use function T\until;

function state(Fiber $fiber): string
{
    return implode(' ', array_filter(['started', 'suspended', 'running', 'terminated'], fn($name) => $fiber->{'is' . $name}()));
}
/** A coroutine that suspends itself: its Fiber, and the coroutine. */
function parked(callable $code): array
{
    $fiber = null;
    $coroutine = spawn(function() use ($code, &$fiber) { $fiber = Fiber::getCurrent(); return $code($fiber); });
    until(function() use (&$fiber) { return $fiber?->isSuspended(); });
    return [$fiber, $coroutine];
}
function tried(callable $code): void
{
    try { $code(); echo "WRONG\n"; } catch (Throwable $e) { echo said($e), "\n"; }
}

echo "from main\n";
[$fiber, $coroutine] = parked(function($fiber) {
    $got = Fiber::suspend('nobody gets this');
    return "$got, " . state($fiber);
});
echo state($fiber), "\n";
tried(fn() => $fiber->start());
tried(fn() => $fiber->getReturn());
var_dump($fiber->resume('a value')); // and the coroutine has not run yet
echo state($fiber), "\n";
tried(fn() => $fiber->resume('twice'));
tried(fn() => $fiber->throw(new Exception('twice')));
echo await($coroutine), "\n", state($fiber), "\n";
tried(fn() => $fiber->resume('late'));
tried(fn() => $fiber->getReturn());

echo "an exception\n";
[$fiber, $coroutine] = parked(function() { try { Fiber::suspend(); } catch (LogicException $e) { return $e->getMessage(); } });
$fiber->throw(new LogicException('thrown into it'));
echo await($coroutine), "\n";

echo "its failure is its own\n";
[$fiber, $coroutine] = parked(fn() => Fiber::suspend());
$fiber->throw(new LogicException('not caught'));
echo state($fiber), "\n";
tried(fn() => await($coroutine));

echo "from another coroutine, a fiber, a destructor, a generator, a scheduler\n";
class Resumer { public function __construct(private Fiber $fiber) {} public function __destruct() { $this->fiber->resume('destructor'); } }
final class Once implements FiberScheduler {
    public ?Fiber $waiting = null;
    public function __construct(private Fiber $fiber) {}
    public function run(): void { $this->fiber->resume('scheduler'); $this->waiting->resume(); }
}
foreach ([
    fn($fiber) => await(spawn(fn() => $fiber->resume('coroutine'))),
    fn($fiber) => (new Fiber(fn() => $fiber->resume('fiber')))->start(),
    function($fiber) { new Resumer($fiber); },
    fn($fiber) => (fn() => yield $fiber->resume('generator'))()->current(),
    function($fiber) { $once = new Once($fiber); Fiber::suspend(function($own) use ($once) { $once->waiting = $own; }, $once); },
] as $resume) {
    [$fiber, $coroutine] = parked(fn() => Fiber::suspend());
    $resume($fiber);
    echo await($coroutine), "\n";
}

echo "in callbacks, generators and destructors\n";
class Suspender { public static array $got = []; public function __destruct() { self::$got[] = Fiber::suspend(); } }
[$fiber, $coroutine] = parked(function() {
    $got = array_map(fn($x) => $x . Fiber::suspend(), ['a', 'b']);
    foreach ((function() { yield Fiber::suspend(); })() as $value) $got[] = $value;
    new Suspender;
    return [...$got, ...Suspender::$got];
});
foreach ([1, 2, 'generator', 'destructor'] as $value) { until($fiber->isSuspended(...)); $fiber->resume($value); }
echo implode(' ', await($coroutine)), "\n";

echo "a fiber in it is PHP's own\n";
echo await(spawn(function() {
    $own = Fiber::getCurrent();
    $fiber = new Fiber(fn() => 'returned ' . Fiber::suspend([Fiber::getCurrent(), $own]));
    [$inner, $outer] = $fiber->start();
    var_dump($inner === $fiber, $outer === Fiber::getCurrent());
    $fiber->resume('this');
    return $fiber->getReturn();
})), "\n";
tried(fn() => Fiber::suspend());
?>
--EXPECT--
from main
started suspended
FiberError: Cannot start a fiber that has already been started
FiberError: Cannot get fiber return value: That of a coroutine is what Async\await() returns
NULL
started running
FiberError: Cannot resume a fiber that is not suspended
FiberError: Cannot throw into a fiber that is not suspended
a value, started running
started terminated
FiberError: Cannot resume a fiber that is not suspended
FiberError: Cannot get fiber return value: That of a coroutine is what Async\await() returns
an exception
thrown into it
its failure is its own
started running
LogicException: not caught
from another coroutine, a fiber, a destructor, a generator, a scheduler
coroutine
fiber
destructor
generator
scheduler
in callbacks, generators and destructors
a1 b2 generator destructor
a fiber in it is PHP's own
bool(true)
bool(true)
returned this
FiberError: Cannot suspend outside of a fiber
