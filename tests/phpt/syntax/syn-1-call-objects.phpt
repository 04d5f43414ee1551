--TEST--
SYN-1 Async\Syntax\Call, the object behind the operator, in hands it was not made for
--FILE--
<?php
require __DIR__ . '/kit.inc';
T\without_deprecations();
use Async\Syntax\Call;
use function Async\await;
use function Async\Syntax\call;

class A { public function m($x) { return "m $x"; } public static function s($x = 0) { return static::class . " s $x"; } public function ref(&$x) { $x = 'set'; } public function __call($n, $a) { return [$n, $a]; } }
final class B extends A {}
$o = new A;
$bare = fn() => (new ReflectionClass(Call::class))->newInstanceWithoutConstructor();

echo "-- made by hand\n";
attempt('a function', fn() => await(call(strlen(...))('abc')));
attempt('by name', fn() => await(call(strlen(...))(string: 'abc')));
attempt('a static method', fn() => await(call(B::s(...))(5)));
attempt('a method', fn() => await(call($o->m(...))(5)));
attempt('a magic one', fn() => await(call($o->any(...))(5, x: 6)));
attempt('by reference', function () use ($o) { await(call($o->ref(...))($x)); return $x; });
attempt('a closure', fn() => await(call(fn($x) => $x * 2)(5)));
attempt('a closure of the callee', fn() => await(call($o, fn($o) => $o->m(...))(5)));
attempt('null', fn() => call(null));
attempt('null, and what would make a closure', fn() => call(null, fn($o) => $o->m(...)));
attempt('__invoke', fn() => await(call($o->m(...))->__invoke(5)));
attempt('in capitals', fn() => await(call($o->m(...))->__INVOKE(5)));
attempt('call_user_func', fn() => await(call_user_func(call($o->m(...)), 5)));
attempt('the method as an array', fn() => await(@call_user_func([call($o->m(...)), '__invoke'], 5)));
attempt('the magic one as an array', fn() => await(@call_user_func([call($o->any(...)), '__invoke'], 5, x: 6)));
attempt('array_map', fn() => array_map(await(...), array_map(call($o->m(...)), [1, 2])));
attempt('spawned', fn() => await(await(Async\spawn(call($o->m(...)), 5))));
attempt('spawned by the operator', function () use ($o) { $c = call($o->m(...)); return await(await spawn $c(5)); });
attempt('a closure of it', fn() => await(call($o->m(...))(...)(5)));
attempt('callable', fn() => [is_callable(call($o->m(...))), (fn(callable $c) => true)(call(strlen(...)))]);
attempt('reflection', fn() => (new ReflectionFunction(Closure::fromCallable(call($o->m(...)))))->getParameters()[0]->getName());
attempt('reflection of a magic one', fn() => (new ReflectionFunction(Closure::fromCallable(call($o->any(...)))))->isVariadic());

echo "-- refused\n";
attempt('nothing', fn() => call());
attempt('too much', fn() => call(strlen(...), fn($c) => $c, 'y'));
foreach ([5, [], 'strlen', $o, STDIN] as $i => $callee) {
    attempt("callee $i", fn() => call($callee));
}
foreach ([5, null, 'strlen', $o, fn() => 5, fn() => throw new Exception('thrown'), fn() => null] as $i => $of) {
    attempt("of $i", fn() => call(new stdClass, $of));
}
attempt('named nonsense', fn() => call(nonsense: 1));
attempt('new', fn() => new Call);
attempt('reflection', $bare);
attempt('clone', fn() => clone call(strlen(...)));
attempt('serialize', fn() => serialize(call(strlen(...))));
attempt('unserialize', fn() => unserialize('O:17:"Async\Syntax\Call":0:{}'));
attempt('a property', function () { $c = call(strlen(...)); $c->x = 1; });
attempt('its properties', fn() => [(array) call(strlen(...)), get_object_vars(call(strlen(...))), json_encode(call(strlen(...))), count((fn() => iterator_to_array(new ArrayIterator(call(strlen(...)))))())]);
attempt('the constructor', fn() => call(strlen(...))->__construct());
attempt('a subclass', fn() => (new ReflectionClass(Call::class))->isFinal());
var_export(call(strlen(...)));
echo "\n", json_encode(print_r(call(strlen(...)), true)), "\n";
ob_start();
var_dump(call(strlen(...)));
debug_zval_dump(call(strlen(...)));
echo preg_replace(['~\s+~', '~#\d+~'], [' ', '#N'], ob_get_clean()), "\n";

echo "-- bound to something else\n";
attempt('a function', fn() => Closure::fromCallable(call(strrev(...)))->bindTo(new stdClass)('x'));
attempt('to nothing', fn() => Closure::fromCallable(call(strrev(...)))->bindTo(null)('x'));
attempt('a method', fn() => Closure::fromCallable(call($o->m(...)))->bindTo(new B)('x'));
attempt('a static one', fn() => Closure::fromCallable(call(A::s(...)))->bindTo(new B)('x'));
attempt('by call()', fn() => @Closure::fromCallable(call($o->m(...)))->call(new B, 'x'));
attempt('to another of them', fn() => await(@Closure::fromCallable(call($o->m(...)))->bindTo(call(strrev(...)))?->__invoke('x') ?? spawn fn() => 'refused'));
attempt('by reflection', fn() => (new ReflectionMethod(Call::class, '__invoke'))->invoke(new B, 'x'));
attempt("of its own", fn() => await(@(new ReflectionMethod(Call::class, '__invoke'))->invokeArgs(call($o->m(...)), ['x'])));

echo "-- where no code is that calls it\n";
echo T\php('register_shutdown_function(Async\Syntax\call(print_r(...)), "never\n"); spl_autoload_register(Async\Syntax\call(function ($class) { $GLOBALS["log"][] = "asked for $class"; })); set_error_handler(Async\Syntax\call(function ($n, $text) { $GLOBALS["log"][] = "told: $text"; }));
    class_exists("NoSuch"); echo $undefined; ob_start(Async\Syntax\call(fn($text, $mode) => $text)); echo "x"; try { ob_end_flush(); } catch (Error $e) { $log[] = get_class($e); } while (count(Async\getCoroutines()) > 1) suspend; sort($log); echo implode(", ", $log), "\n";'), "\n";

echo "-- in cycles\n";
final class Cycle { public $call; public static int $alive = 0; public function __construct() { self::$alive++; } public function __destruct() { self::$alive--; } public function run(...$x) {} }
for ($i = 0; $i < 100; $i++) {
    $cycle = new Cycle;
    $cycle->call = $i % 2 ? call($cycle->run(...)) : call(function () use ($cycle) {});
    if ($i % 3 === 0) ($cycle->call)($cycle);
}
unset($cycle);
T\alone();
gc_collect_cycles();
echo Cycle::$alive, " alive\n";
?>
--EXPECT--
-- made by hand
a function: 3
by name: 3
a static method: "B s 5"
a method: "m 5"
a magic one: ["any",{"0":5,"x":6}]
by reference: "set"
a closure: 10
a closure of the callee: "m 5"
null: null
null, and what would make a closure: null
__invoke: "m 5"
in capitals: "m 5"
call_user_func: "m 5"
the method as an array: "m 5"
the magic one as an array: ["any",{"0":5,"x":6}]
array_map: ["m 1","m 2"]
spawned: "m 5"
spawned by the operator: "m 5"
a closure of it: "m 5"
callable: [true,true]
reflection: "x"
reflection of a magic one: true
-- refused
nothing: ArgumentCountError: Async\Syntax\call() expects at least 1 argument, 0 given
too much: ArgumentCountError: Async\Syntax\call() expects at most 2 arguments, 3 given
callee 0: TypeError: Async\Syntax\call() takes a closure, int given
callee 1: TypeError: Async\Syntax\call() takes a closure, array given
callee 2: TypeError: Async\Syntax\call() takes a closure, string given
callee 3: TypeError: Async\Syntax\call() takes a closure, A given
callee 4: TypeError: Async\Syntax\call() takes a closure, resource given
of 0: TypeError: Async\Syntax\call(): Argument #2 ($of) must be of type Closure, int given
of 1: TypeError: Async\Syntax\call(): Argument #2 ($of) must be of type Closure, null given
of 2: TypeError: Async\Syntax\call(): Argument #2 ($of) must be of type Closure, string given
of 3: TypeError: Async\Syntax\call(): Argument #2 ($of) must be of type Closure, A given
of 4: TypeError: Async\Syntax\call() takes a closure, int given
of 5: Exception: thrown
of 6: TypeError: Async\Syntax\call() takes a closure, null given
named nonsense: Error: Unknown named parameter $nonsense
new: Error: Call to private Async\Syntax\Call::__construct() from global scope
reflection: ReflectionException: Class Async\Syntax\Call is an internal class marked as final that cannot be instantiated without invoking its constructor
clone: Error: Trying to clone an uncloneable object of class Async\Syntax\Call
serialize: Exception: Serialization of 'Async\Syntax\Call' is not allowed
unserialize: Exception: Unserialization of 'Async\Syntax\Call' is not allowed
a property: Error: Cannot create dynamic property Async\Syntax\Call::$x
its properties: [[],[],"{}",0]
the constructor: Error: Call to private method Async\Syntax\Call::__construct() from global scope
a subclass: true
\Async\Syntax\Call::__set_state(array(
))
"Async\\Syntax\\Call Object\n(\n)\n"
object(Async\Syntax\Call)#N (0) { } object(Async\Syntax\Call)#N (0) refcount(1){ } 
-- bound to something else
a function: Error: This closure is not bound to the call that it was made of
to nothing: Error: This closure is not bound to the call that it was made of
a method: Error: This closure is not bound to the call that it was made of
a static one: Error: This closure is not bound to the call that it was made of
by call(): null
to another of them: "refused"
by reflection: ReflectionException: Given object is not an instance of the class this method was declared in
of its own: "m x"
-- where no code is that calls it
[0] Error, asked for NoSuch, told: Undefined variable $undefined

-- in cycles
0 alive
