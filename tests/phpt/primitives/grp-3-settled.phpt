--TEST--
GRP-3 awaitAllSettled(): results and failures by keys, of awaitables of each kind; a failure never ends their scope
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, Future, FutureState, Scope, Settled};
use function Async\{await, awaitAllSettled, delay, spawn, suspend, timeout};

function show(array $all): array { return array_map(fn(Settled $one) => [$one->ok, $one->value, $one->error ? said($one->error) : null], $all); }

attempt('nothing', fn() => awaitAllSettled([]));
attempt('keys and order', fn() => show(awaitAllSettled(['slow' => spawn(function() { suspend(); suspend(); return 1; }), 5 => spawn(fn() => throw new DomainException('down')), 'null' => spawn(fn() => null)])));
attempt('a generator', fn() => show(awaitAllSettled((function() { yield 'a' => spawn(fn() => 1); yield 'b' => Future::failed(new DomainException('b')); })())));
attempt('one twice', function() { $one = spawn(fn() => throw new DomainException('once')); return show(awaitAllSettled([$one, $one])); });
attempt('one that is cancelled', function() { $one = spawn(fn() => delay(100_000)); T\parked($one); $one->cancel(new CancellationException('so')); return show(awaitAllSettled([$one])); });
attempt('complete ones', function() { $all = [spawn(fn() => 1), spawn(fn() => throw new DomainException('2'))]; T\ended(...$all); return show(awaitAllSettled($all)); });
$scope = new Scope;
attempt('in a scope of its own', fn() => await($scope->spawn(fn() => show(awaitAllSettled([spawn(fn() => throw new DomainException('in a scope')), spawn(function() { T\turns(3); return 'the other one goes on'; })])))));
attempt('a token', function() { $one = spawn(fn() => delay(100_000)); try { return awaitAllSettled([$one], timeout(5)); } finally { $one->cancel(); } });
attempt('no awaitable', fn() => awaitAllSettled([1]));
attempt('no iterable', fn() => awaitAllSettled(1));

[$good, $bad] = awaitAllSettled([spawn(fn() => 'a result'), spawn(fn() => throw new DomainException('the failure'))]);
attempt('unwrap', fn() => $good->unwrap());
attempt('unwrap a failure', fn() => $bad->unwrap());
attempt('the same object', fn() => [$bad->error === (function() use ($bad) { try { $bad->unwrap(); } catch (DomainException $e) { return $e; } })()]);
attempt('readonly', function() use ($good) { $good->value = 1; });
attempt('not made by hand', fn() => new Settled);
attempt('by reflection', fn() => (new ReflectionClass(Settled::class))->newInstanceWithoutConstructor()->unwrap());
?>
--EXPECT--
nothing: []
keys and order: {"slow":[true,1,null],"5":[false,null,"DomainException: down"],"null":[true,null,null]}
a generator: {"a":[true,1,null],"b":[false,null,"DomainException: b"]}
one twice: [[false,null,"DomainException: once"],[false,null,"DomainException: once"]]
one that is cancelled: [[false,null,"Async\\CancellationException: so"]]
complete ones: [[true,1,null],[false,null,"DomainException: 2"]]
in a scope of its own: [[false,null,"DomainException: in a scope"],[true,"the other one goes on",null]]
a token: Async\TimeoutException: The wait was given up after 5 ms
no awaitable: TypeError: Async\awaitAllSettled(): Argument #1 ($awaitables) must contain instances of Async\Awaitable only, int given
no iterable: TypeError: Async\awaitAllSettled(): Argument #1 ($awaitables) must be of type Traversable|array, int given
unwrap: "a result"
unwrap a failure: DomainException: the failure
the same object: [true]
readonly: Error: Cannot modify readonly property Async\Settled::$value
not made by hand: Error: Call to private Async\Settled::__construct() from global scope
by reflection: null
