--TEST--
SYN-1 spawn f(...) does what the call itself does: arguments by name, spread, left out, by reference; errors of each kind
--FILE--
<?php
require __DIR__ . '/kit.inc';

const K = 'constant';
class Box { public $v = 1; public int $typed = 5; public static $static = 's'; public function __construct(public readonly int $once = 1) {} }
enum Suit: string { case Hearts = 'h'; case Spades = 's'; public function label($other = self::Spades) { return $this->value . $other->value; } public static function make() { return self::Hearts; } }
function f($a, $b = 'B', ...$rest) { return [$a, $b, $rest]; }
function defaults($a = 1, $b = M_PI, $c = new Box(5), $d = K . '!', $e = Suit::Spades->value ?? 1) { return [$a, $b, $c->v ?? $c, $d, $e]; }
function references(&$x, &...$more) { $x = 'x'; foreach ($more as &$m) $m .= '!'; return count($more); }
function &returns_reference() { static $s = 1; return $s; }
function typed(int $i, ?string $s = null, float|bool $f = 1.5): array { return [$i, $s, $f]; }
function generates($x) { yield $x; yield $x + 1; return 5; }
function never_returns(): never { throw new LogicException('never'); }
function fails($message = 'fails') { throw new DomainException($message); }
function given($a = 5, $b = 6) { return [func_get_args(), func_num_args()]; }
function named_only(...$all) { return [func_get_args(), $all]; }
function &global_of($n) { return $GLOBALS[$n]; }
function strings() { yield 'b' => 2; yield 'a' => 1; }
function late_position() { yield 'b' => 2; yield 1; }

same_as_the_call([
    // by place, by name, spread
    ['f(say(1), say(2))'], ['f(b: say(1), a: say(2))'], ['f(1, z: 3, y: 4)'], ['f(...[1, 2], ...["x" => 5, "y" => 6])'], ['f(...["a" => 1], x: 2)'],
    ['f(1, 2, 3, ...[4, 5], x: 6)'], ['f(...["b" => 1, "a" => 2])'], ['f(...strings())'], ['f(...late_position())'], ['f(...new ArrayIterator([1, 2, 3]))'],
    ['f(...[])'], ['f(...5)'], ['f(...null)'], ['f(...new ArrayIterator(["z" => 1]))'], ['f(a: 1, a: 2)'],
    ['defaults(d: 1)'], ['defaults(b: 1)'], ['defaults(c: new Box)'], ['defaults(2, e: 1)'], ['defaults(1, a: 1)'], ['defaults(...["d" => 4, "a" => 1])'], ['defaults(...[4 => 1])'],
    ['defaults(zz: 1)'], ['defaults(...["zz" => 1])'], ['defaults(1, 2, 3, 4, 5, 6, 7)'], ['defaults(...["a" => 1], a: 2)'],
    ['named_only(1, x: 2, y: 3)'], ['named_only(...["x" => 1], ...["y" => 2])'], ['given(b: 3)'], ['given(1, 2, 3)'], ['given()'],
    // too few, too many, wrong
    ['f()'], ['f(b: 1)'], ['f(...["z" => 1])'], ['strrev()'], ['strrev(1, 2)'], ['strrev(string: "abc")'], ['strrev(str: "abc")'], ['strrev([])'], ['strrev(5)'], ['strrev(null)'],
    ['typed("5")'], ['typed("x")'], ['typed(1.5)'], ['typed(2.0)'], ['typed(null)'], ['typed(1, s: 5)'], ['typed(1, f: "1e3")'], ['typed(i: [], f: 1)'], ['typed(true)'], ['typed(1, null, null)'],
    // of PHP's own functions
    ['json_decode("[1]", flags: JSON_THROW_ON_ERROR)'], ['json_decode("[", flags: JSON_THROW_ON_ERROR)'], ['array_slice([1, 2, 3], 1, preserve_keys: true)'], ['array_fill(start_index: 1, count: 2, value: 0)'],
    ['fopen("/no/such", "r")'], ['trigger_error("x", E_USER_NOTICE)'], ['constant("K")'], ['constant("NO_SUCH")'], ['array_map(fn($x) => $x + 1, [1, 2])'], ['array_map(null, [1], [2])'], ['call_user_func("f", 1)'], ['call_user_func_array("f", ["b" => 1, "a" => 2])'], ['iterator_to_array(generates(1))'], ['usort($l, fn($a, $b) => $a <=> $b)', '$l = [3, 1, 2];', '$l'],
    ['utf8_encode("x")'], ['strftime("%Y", 0)'],
    // those that ask whether their value is wanted
    ['end($l)', '$l = [1, 2];'], ['reset($l)', '$l = [1, 2];'], ['next($l)', '$l = [1, 2];', 'current($l)'], ['prev($l)', '$l = [1, 2]; end($l);', 'key($l)'],
    // references
    ['references($x)', '$x = 1;', '$x'], ['references($u)', '', '$u'], ['references($u, $v, $w[1][2], $w["x"])', '', '$u, $v, $w'], ['references($o->p, $o->q->r)', '$o = new stdClass;', '$o'], ['references($o->p, $o->q["r"])', '$o = new stdClass;', '$o'],
    ['references(x: $n, k: $m)', '', '$n, $m'], ['references(...$l)', '$l = [1, 2, 3];', '$l'], ['references(...$l)', '$l = ["x" => 1, "y" => 2];', '$l'], ['references(...[1, 2])'], ['references(...strings())'], ['references($y, ...[$y], ...[4])', '$y = 3;', '$y'], ['references(...(function () { yield 1; })())'],
    ['references($x[0])', '$x = [1]; $z = &$x[0];', '$x, $z'], ['references($x[])', '$x = [1];', '$x'], ['references($n[])', '', '$n'], ['references(Box::$static)', 'Box::$static = 1;', 'Box::$static'], ['references(Box::$no)'], ['references($o->typed)', '$o = new Box;', '$o'], ['references($o->once)', '$o = new Box;', '$o'], ['references($$name)', '$name = "dynamic";', '$dynamic'], ['references($GLOBALS["by_name"])', '', '$GLOBALS["by_name"]'], ['references(global_of("gg"))', '', '$GLOBALS["gg"]'],
    ['references(returns_reference())', '', 'returns_reference()'], ['references(strrev("a"))'], ['references(new Box)'], ['references((fn() => 1)())'], ['references($x = 5)', '', '$x'], ['references($x ??= 5)', '', '$x'], ['references($a ?? 5)'], ['references(1)'], ['references(K)'], ['references([])'], ['references([$q])'], ['references(Suit::Hearts)'], ['references($x?->y)', '$x = null;'],
    ['references($s[0])', '$s = "string";'], ['references($s[0][1])', '$s = "string";'], ['references($x[0])', '$x = 5;'], ['references($x[0][1])', '$x = false;', '$x'], ['references($x->y)', '$x = null;'],
    ['array_multisort($a, SORT_DESC, $b)', '$a = [3, 1, 2]; $b = [1, 2, 3];', '$a, $b'], ['array_multisort([3, 1, 2])'], ['array_multisort($a[0], ...[SORT_DESC])', '$a = [[3, 1, 2]];', '$a'], ['sort($a, flags: SORT_STRING)', '$a = [2, 10];', '$a'], ['sort([2, 1])'], ['end([1])'], ['array_push($a, 2, ...[3])', '$a = [1];', '$a'], ['array_splice($a, 1, length: 1)', '$a = [1, 2, 3];', '$a'], ['preg_match("/(.)/", "x", $m)', '', '$m'], ['preg_match(subject: "x", pattern: "/(.)/", matches: $m)', '', '$m'], ['str_replace("a", "b", "aaa", count: $n)', '', '$n'], ['settype($x, "array")', '$x = 5;', '$x'], ['parse_str("a=1&b[]=2", $into)', '', '$into'],
    // variables and values that can be called
    ['$f($a)', '$f = "sort"; $a = [2, 1];', '$a'], ['$n(say(1))', '$n = 5;'], ['$n(say(1))', '$n = true;'], ['$n(say(1))', '$n = "no_such";'], ['$n(say(1))', '$n = [];'], ['$n(say(1))', '$n = [1, 2];'], ['$n(say(1))', '$n = ["Box"];'], ['$n(say(1))', '$n = ["x" => 1, "y" => 2];'], ['$n(say(1))', '$n = new Box;'], ['$undefined(say(1))'], ['"strrev"("abc")'], ['"str{$x}"("abc")', '$x = "rev";'], ['$a["k"][0]("ab")', '$a = ["k" => ["strrev"]];'], ['$a["k"](say(1))', '$a = [];'], ['$$n("ab")', '$n = "f"; $f = "strrev";'],
    ['no_such(say(1))'], ['\no_such(say(1))'], ['No\Such\f(say(1))'],
    ['$c("abc")', '$c = strlen(...);'], ['$c($x)', '$c = references(...);', '$x'], ['$c(1, "2", x: 3)', '$c = fn(int ...$n) => $n;'], ['$c(9)', '$z = 1; $c = function ($p) use (&$z) { $z = $p; };', '$z'], ['$c($x)', '$c = static fn&(&$q) => $q;', '$x'], ['$c($x, 2)', '$c = function (&$a, $b) { $a .= $b; };', '$x'], ['$c()', '$c = fn(Box $b = new Box(7)) => $b->once;'], ['$c(1)', '$c = fn(): int => "x";'], ['$c[0](3)', '$c = [fn($x) => $x * 2];'],
    // what comes of them
    ['generates(5)'], ['never_returns()'], ['fails()'], ['fails(fails("argument"))'], ['f(fails(), say(2))'], ['f(say(1), fails())'], ['f(...fails())'], ['returns_reference()'],
    ['Suit::Hearts->label()'], ['Suit::Spades->label(Suit::Hearts)'], ['Suit::from("h")->label()'], ['Suit::from("no")'], ['Suit::tryFrom(value: "s")?->label()'], ['Suit::cases()[0]->label()'], ['Suit::make()'], ['Suit::Hearts->no_such()'], ['Suit::No->label()'],
]);

// They look into the frame of their caller, which runs on meanwhile.
foreach (['compact("x")', 'extract(["x" => 1])', 'get_defined_vars()', 'func_get_args()', 'func_num_args()'] as $call) {
    attempt($call, fn() => eval("return await spawn $call;"));
}
?>
--EXPECT--
336 calls, 336 of them are the same when they are spawned
compact("x"): Error: Cannot call compact() dynamically
extract(["x" => 1]): Error: Cannot call extract() dynamically
get_defined_vars(): Error: Cannot call get_defined_vars() dynamically
func_get_args(): Error: Cannot call func_get_args() dynamically
func_num_args(): Error: Cannot call func_num_args() dynamically
