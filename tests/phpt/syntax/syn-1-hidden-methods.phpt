--TEST--
SYN-1 a method that the caller must not see falls back on __call() and __callStatic(), with named arguments too
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{await, spawn};

class A
{
    private function hidden($x) { return "hidden $x"; }
    protected static function inner($x) { return "inner $x"; }
    public function __call($name, $arguments) { return [$name, $arguments]; }
    public static function __callStatic($name, $arguments) { return ['static', $name, $arguments]; }
    public function inside(): array { return [[$this->hidden(x: 5), self::inner(x: 1), $this->none(x: 2)], [await spawn $this->hidden(x: 5), await spawn self::inner(x: 1), await spawn $this->none(x: 2)]]; }
}
class B extends A
{
    public function below(): array { return [[$this->hidden(a: 5), parent::inner(x: 1), self::none(x: 2)], [await spawn $this->hidden(a: 5), await spawn parent::inner(x: 1), await spawn self::none(x: 2)]]; }
}
class OfPhp extends ArrayObject
{
    private function hidden($x) {}
    public function __call($name, $arguments) { return [$name, $arguments]; }
}
enum Suit: string
{
    case Hearts = 'h';
    private function hidden($x) {}
    public function __call($name, $arguments) { return [$name, $arguments]; }
    public static function __callStatic($name, $arguments) { return ['static', $name, $arguments]; }
}
$a = new A;
$b = new B;
$php = new OfPhp;
$pair = [$a, 'hidden'];
$static = 'A::inner';
foreach ([
    'named' => [fn() => $a->hidden(a: 1), fn() => await spawn $a->hidden(a: 1)],
    'its own name' => [fn() => $a->hidden(x: 1), fn() => await spawn $a->hidden(x: 1)],
    'in other letters' => [fn() => $a->HIDDEN(x: 1), fn() => await spawn $a->HIDDEN(x: 1)],
    'both' => [fn() => $a->hidden(1, 2, b: 3), fn() => await spawn $a->hidden(1, 2, b: 3)],
    'unpacked' => [fn() => $a->hidden(...['z' => 1]), fn() => await spawn $a->hidden(...['z' => 1])],
    'none' => [fn() => $a->hidden(), fn() => await spawn $a->hidden()],
    'a static one' => [fn() => A::inner(x: 1, y: 2), fn() => await spawn A::inner(x: 1, y: 2)],
    'that does not exist' => [fn() => A::none(x: 1), fn() => await spawn A::none(x: 1)],
    'inherited' => [fn() => $b->hidden(a: 1), fn() => await spawn $b->hidden(a: 1)],
    'inherited, static' => [fn() => B::inner(a: 1), fn() => await spawn B::inner(a: 1)],
    'a pair' => [fn() => $pair(a: 1), fn() => await spawn $pair(a: 1)],
    'a text' => [fn() => $static(a: 1), fn() => await spawn $static(a: 1)],
    'the function' => [fn() => call_user_func($pair, a: 1), fn() => await(spawn($pair, a: 1))],
    'a class of PHP' => [fn() => $php->hidden(q: 1), fn() => await spawn $php->hidden(q: 1)],
    'of an enumeration' => [fn() => Suit::Hearts->hidden(q: 1), fn() => await spawn Suit::Hearts->hidden(q: 1)],
    'of an enumeration, static' => [fn() => Suit::hidden(q: 1), fn() => await spawn Suit::hidden(q: 1)],
    'made by the engine' => [fn() => [Suit::from(value: 'h'), Suit::tryFrom(value: 'x'), Suit::cases()], fn() => [await spawn Suit::from(value: 'h'), await spawn Suit::tryFrom(value: 'x'), await spawn Suit::cases()]],
] as $what => [$direct, $spawned]) {
    $got = $spawned();
    echo "$what: ", json_encode($got), $got === $direct() ? '' : ' and not ' . json_encode($direct()), "\n";
}
foreach (['inside' => $a->inside(), 'below' => $b->below()] as $what => [$direct, $spawned]) {
    echo "$what: ", json_encode($spawned), $spawned === $direct ? '' : ' and not ' . json_encode($direct), "\n";
}
attempt('what takes no names', fn() => await spawn Suit::from(name: 'h'));
?>
--EXPECT--
named: ["hidden",{"a":1}]
its own name: ["hidden",{"x":1}]
in other letters: ["HIDDEN",{"x":1}]
both: ["hidden",{"0":1,"1":2,"b":3}]
unpacked: ["hidden",{"z":1}]
none: ["hidden",[]]
a static one: ["static","inner",{"x":1,"y":2}]
that does not exist: ["static","none",{"x":1}]
inherited: ["hidden",{"a":1}]
inherited, static: ["static","inner",{"a":1}]
a pair: ["hidden",{"a":1}]
a text: ["static","inner",{"a":1}]
the function: ["hidden",{"a":1}]
a class of PHP: ["hidden",{"q":1}]
of an enumeration: ["hidden",{"q":1}]
of an enumeration, static: ["static","hidden",{"q":1}]
made by the engine: ["h",null,["h"]]
inside: ["hidden 5","inner 1",["none",{"x":2}]]
below: [["hidden",{"a":5}],"inner 1",["none",{"x":2}]]
what takes no names: Error: Unknown named parameter $name
