--TEST--
SYN-1 spawn of methods does what the call itself does: who may call what, static and parent, magic ones, with what errors
--FILE--
<?php
require __DIR__ . '/kit.inc';

interface Shape { const SIDES = 3; public static function named(); public function area(); }
abstract class Base
{
    abstract public function kind();
    abstract public static function made();
    protected function hidden($x = 1) { return [static::class, "hidden $x"]; }
    private function own($x = 1) { return [static::class, "Base's own $x"]; }
    private static function ownStatic() { return 'own static'; }
    public static function statically($x = self::class, $y = 1) { return [static::class, $x, $y]; }
    public static function late() { return new static; }
}
class Child extends Base implements Shape
{
    const NAME = 'child';
    private $secret = 'secret';
    public $callback;
    public function kind() { return 'child'; }
    public static function made() { return 'made'; }
    public static function named() { return 'named'; }
    public function area() { return 'area'; }
    public function any(...$a) { return $a; }
    public function late_class() { return [static::class, self::class, get_class($this), get_called_class()]; }
    public function __invoke(&$x, $y = 2) { $x = 'invoked'; return [static::class, $y]; }
    public function evaluate(string $code) { return eval($code); }
    public static function evaluate_static(string $code) { return eval($code); }
}
class GrandChild extends Child { public function kind() { return 'grand' . parent::kind(); } private function own($x = 1) { return "GrandChild's own $x"; } }
class Magic
{
    public function __call($name, $arguments) { return [$name, $arguments, static::class, isset($this)]; }
    public static function __callStatic($name, $arguments) { return [$name, $arguments, static::class, isset($this)]; }
    private function hidden() { return 'hidden'; }
    public function evaluate(string $code) { return eval($code); }
    public function __get($name) { say("get $name"); return fn(...$a) => [$name, $a]; }
}
class MagicChild extends Magic {}
trait Helps { public function help() { return [__CLASS__, static::class, self::class]; } public static function helpStatic() { return self::class; } }
final class Helped { use Helps { help as protected assist; help as aided; } }
final class Elements implements ArrayAccess { public function offsetExists($o): bool { return true; } public function offsetGet($o): mixed { return fn(...$a) => [$o, $a]; } public function offsetSet($o, $v): void {} public function offsetUnset($o): void {} }

same_as_the_call([
    ['$o->any(say(1), b: say(2))', '$o = new Child;'], ['$o->no_such(say(1))', '$o = new Child;'], ['$o->hidden(say(1))', '$o = new Child;'], ['$o->own(say(1))', '$o = new Child;'], ['$o->ANY(1)', '$o = new Child;'],
    ['$o->any(say(1))', '$o = null;'], ['$o->any(say(1))', '$o = 5;'], ['$o->any(say(1))', '$o = "Child";'], ['$undefined->any(say(1))'],
    ['Child::statically(say(1))'], ['GrandChild::statically(y: say(1))'], ['$c::statically(say(1))', '$c = "Child";'], ['$c::statically(say(1))', '$c = new GrandChild;'], ['GrandChild::late()->kind()'], ['Base::late()'], ['$o->statically()', '$o = new GrandChild;'],
    ['Child::no_such(say(1))'], ['No_Such::any(say(1))'], ['Child::area(say(1))'], ['Base::made(say(1))'], ['Shape::named(say(1))'], ['Base::ownStatic()'], ['Child::made()'], ['$n::any(say(1))', '$n = "No_Such";'], ['$n::any(say(1))', '$n = 5;'], ['Base::kind()'],
    ['$o->$n(say(1))', '$o = new Child; $n = "any";'], ['$o->{$n}(say(1))', '$o = new Child; $n = "any";'], ['$o->$n(say(1))', '$o = new Child; $n = 5;'], ['$o->$n(say(1))', '$o = new Child; $n = fn($x) => 1;'], ['$o->callback(say(1))', '$o = new Child; $o->callback = fn() => 1;'], ['Child::$n(say(1))', '$n = "statically";'], ['Child::{$n}(say(1))', '$n = "statically";'], ['Child::$n(say(1))', '$n = 5;'], ['Child::$n()', '$n = "";'],
    ['$o($x)', '$o = new Child;', '$x'], ['$o(1)', '$o = new Child;'], ['$o()', '$o = new Child;'], ['$o(y: 5, x: $x)', '$o = new Child;', '$x'], ['$o->__invoke(y: 3, x: $x)', '$o = new Child;', '$x'],
    ['$n(say(1))', '$n = "Child::statically";'], ['$n(say(1))', '$n = "Child::no_such";'], ['$n(say(1))', '$n = "No_Such::any";'], ['$n(say(1))', '$n = ["Child", "statically"];'], ['$n(say(1))', '$n = ["Child", "no_such"];'], ['$n(say(1))', '$n = ["Child", "area"];'], ['$n(say(1))', '$n = [new Child, "any"];'], ['$n(say(1))', '$n = [new Child, "hidden"];'], ['$n(say(1))', '$n = [new Child, "no_such"];'], ['"Child::statically"(1)'],
    ['$m->any(say(1), b: say(2))', '$m = new Magic;'], ['$m->any(...["x" => 1, "y" => 2])', '$m = new Magic;'], ['$m->any(...[1, 2], z: 3)', '$m = new Magic;'], ['$m->any($x)', '$m = new Magic; $x = 1;', '$x'], ['$m->any($u)', '$m = new Magic;'], ['$m->any()', '$m = new Magic;'], ['$m->hidden(1)', '$m = new Magic;'], ['$m->any(x: 1, x: 2)', '$m = new Magic;'], ['$m->any(1, ...["x" => 1], x: 2)', '$m = new Magic;'],
    ['Magic::any(say(1), x: 3)'], ['MagicChild::any(1, x: say(3))'], ['$m::any(1, x: 2)', '$m = new MagicChild;'], ['$n(1)', '$n = [new Magic, "any"];'], ['$n(1)', '$n = "Magic::any";'], ['$n(1)', '$n = ["MagicChild", "any"];'], ['$m->$n(1)', '$m = new Magic; $n = "na" . "me";'],
    ['$m->property->__invoke(say(1))', '$m = new Magic;'], ['$m->property["x"](say(1))', '$m = new class { public $property = ["x" => "strrev"]; };'], ['$e["key"](say(1), x: 2)', '$e = new Elements;'],
    ['$h->aided()', '$h = new Helped;'], ['$h->help()', '$h = new Helped;'], ['$h->assist()', '$h = new Helped;'], ['Helped::helpStatic()'],
    ['$c(1, x: 2)', '$c = (new Child)->any(...);'], ['$c(5)', '$c = Child::statically(...);'], ['$c(5)', '$c = GrandChild::statically(...);'], ['$c(1)', '$c = (new Magic)->any(...);'], ['$c(1)', '$c = MagicChild::any(...);'], ['$c()', '$c = (new GrandChild)->late_class(...);'],
    ['$c()', '$c = Closure::bind(fn() => [$this->secret, static::class], new Child, Child::class);'], ['$c()', '$c = Closure::bind(static fn() => static::class, null, GrandChild::class);'], ['$c(1)', '$c = Closure::bind(function ($x) { return $this->hidden($x); }, new GrandChild, Base::class);'], ['$c()', '$c = Closure::bind(fn() => $this->secret, new Child, null);'], ['$c()', '$c = static fn() => isset($this);'],
    ['$d->format(format: "U")', '$d = new DateTime("@5");'], ['DateTime::createFromFormat("U", "5", timezone: null)->format("U")'], ['$d->add(say("1 day"))', '$d = new DateTime("@5");'], ['$i->current()', '$i = new ArrayIterator([4]);'], ['ArrayObject::no_such()'], ['$g->current()', '$g = (function () { yield 3; })();'], ['$o->append(5)', '$o = new ArrayObject;', 'count($o)'], ['$r->invoke(new Child, 5)', '$r = new ReflectionMethod("Child", "any");'],
]);

$from_inside = array_map(fn($call) => [$call], ['$this->hidden(say(1))', '$this->own(say(1))', 'self::statically()', 'static::statically()', 'parent::statically()', 'parent::hidden(2)', 'parent::own(2)', 'self::hidden(3)', 'Child::hidden(4)', 'Base::hidden(5)', '$this->late_class()', 'parent::late_class()', 'self::late_class()', 'parent::kind()', 'static::made()', 'static::late()->kind()', 'parent::no_such()', 'self::no_such()', 'static::no_such()', 'Helped::assist()', 'Base::ownStatic()', 'self::ownStatic()', '"self::statically"(1)', '$this->evaluate("return \$this->hidden(6);")', 'static::$nothing()',
    // PHP's own functions see what the code that calls them sees
    'call_user_func([$this, "hidden"], 1)', 'array_map([$this, "hidden"], [1, 2])', 'array_map([$this, "own"], [1])', 'forward_static_call(["Base", "statically"])', 'is_callable([$this, "hidden"])', 'is_callable([$this, "own"])', 'get_object_vars($this)', 'property_exists($this, "secret")', 'get_class_methods($this)', 'get_called_class()', 'get_class()', 'get_parent_class()', 'defined("self::NAME")', 'constant("self::NAME")', 'constant("static::NAME")', 'iterator_apply($i = new ArrayIterator([1]), [$this, "hidden"])', 'method_exists($this, "own")', 'array_walk($GLOBALS["walked"], [$this, "hidden"])']);
$GLOBALS['walked'] = [1];
foreach ([(new Child)->evaluate(...), (new GrandChild)->evaluate(...), GrandChild::evaluate_static(...)] as $inside) {
    same_as_the_call($from_inside, $inside);
}
same_as_the_call([['$this->hidden(1)'], ['$this->any(1, a: 2)'], ['self::any(1, a: 2)'], ['static::any(b: 1)'], ['parent::any()']], (new MagicChild)->evaluate(...));
?>
--EXPECT--
184 calls, 184 of them are the same when they are spawned
86 calls, 86 of them are the same when they are spawned
86 calls, 86 of them are the same when they are spawned
86 calls, 86 of them are the same when they are spawned
10 calls, 10 of them are the same when they are spawned
