--TEST--
SYN-1 what a call would throw before it begins is thrown by spawn, and there is no coroutine; the rest is the coroutine's
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\getCoroutines;

abstract class A { abstract public static function made(); private function own() {} public static function fine() {} public function method() {} }
final class Guarded { private function __construct() {} protected function method() {} }
enum E { case X; private function own() {} }
function two($a, $b) {}
function typed(int $i) {}
function takes(&$x) {}
function broken(): int { return 'x'; }

$o = (new ReflectionClass('Guarded'))->newInstanceWithoutConstructor();
$null = null;
$throws = function () { throw new LengthException('in an argument'); };
$calls = [
    'no_such()', 'A::no_such()', 'No_Such::method()', 'A::made()', 'A::method()', '$o->method()', '$o->no_such()', '$null->method()', '$undefined()', '$undefined->method()', 'E::X->own()', 'E::Y->own()', '$o?->method()', '$o?->no_such()',
    'two(c: 1)', 'two(1, a: 2)', 'two(...5)', 'takes(1)', 'takes(x: 1)', 'two($throws(), 1)', 'two(1, b: $throws())', 'two(...$throws())', '$throws()->method()', '$o->{$throws()}()',
    'two(1)', 'two(b: 1)', 'typed("x")', 'typed()', 'broken()', 'strrev()', 'strrev([])', 'str_repeat("x", -1)', 'json_decode("[", flags: JSON_THROW_ON_ERROR)', 'array_fill(0, 1)',
];
foreach ($calls as $call) {
    $c = null;
    try {
        $c = @eval("return spawn $call;");
        $who = 'coroutine';
        await $c;
        echo "$call: nobody throws\n";
    } catch (Throwable $e) {
        if (!$c) {
            $who = count(getCoroutines()) === 1 ? 'spawn    ' : 'spawn, and there is a coroutine';
        }
        echo "$who $call: ", said($e), "\n";
    }
}
?>
--EXPECTF--
spawn     no_such(): Error: Call to undefined function no_such()
spawn     A::no_such(): Error: Call to undefined method A::no_such()
spawn     No_Such::method(): Error: Class "No_Such" not found
spawn     A::made(): Error: Cannot call abstract method A::made()
spawn     A::method(): Error: Non-static method A::method() cannot be called statically
spawn     $o->method(): Error: Call to protected method Guarded::method() from global scope
spawn     $o->no_such(): Error: Call to undefined method Guarded::no_such()
spawn     $null->method(): Error: Call to a member function method() on null
spawn     $undefined(): Error: Value of type null is not callable
spawn     $undefined->method(): Error: Call to a member function method() on null
spawn     E::X->own(): Error: Call to private method E::own() from global scope
spawn     E::Y->own(): Error: Undefined constant E::Y
spawn     $o?->method(): Error: Call to protected method Guarded::method() from global scope
spawn     $o?->no_such(): Error: Call to undefined method Guarded::no_such()
spawn     two(c: 1): Error: Unknown named parameter $c
spawn     two(1, a: 2): Error: Named parameter $a overwrites previous argument
spawn     two(...5): TypeError: Only arrays and Traversables can be unpacked%r(, int given)?%r
spawn     takes(1): Error: takes(): Argument #1 ($x) %r(cannot|could not)%r be passed by reference
spawn     takes(x: 1): Error: takes(): Argument #1 ($x) %r(cannot|could not)%r be passed by reference
spawn     two($throws(), 1): LengthException: in an argument
spawn     two(1, b: $throws()): LengthException: in an argument
spawn     two(...$throws()): LengthException: in an argument
spawn     $throws()->method(): LengthException: in an argument
spawn     $o->{$throws()}(): LengthException: in an argument
coroutine two(1): ArgumentCountError: Too few arguments to function two(), 1 passed in syn-1-who-throws.php(24) : eval()'d code on line 1 and exactly 2 expected
coroutine two(b: 1): ArgumentCountError: two(): Argument #1 ($a) not passed
coroutine typed("x"): TypeError: typed(): Argument #1 ($i) must be of type int, string given, called in syn-1-who-throws.php(24) : eval()'d code on line 1
coroutine typed(): ArgumentCountError: Too few arguments to function typed(), 0 passed in syn-1-who-throws.php(24) : eval()'d code on line 1 and exactly 1 expected
coroutine broken(): TypeError: broken(): Return value must be of type int, string returned
coroutine strrev(): ArgumentCountError: strrev() expects exactly 1 argument, 0 given
coroutine strrev([]): TypeError: strrev(): Argument #1 ($string) must be of type string, array given
coroutine str_repeat("x", -1): ValueError: str_repeat(): Argument #2 ($times) must be greater than or equal to 0
coroutine json_decode("[", flags: JSON_THROW_ON_ERROR): JsonException: Syntax error
coroutine array_fill(0, 1): ArgumentCountError: array_fill() expects exactly 3 arguments, 2 given
