--TEST--
H6 state that Zend keeps in globals stays with its coroutine: scopes, traces, locale of errors, includes, tick and argument state
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Secret
{
    private string $private = 'private';
    public static function read(object $o) { return (function() { suspend(); return $this->private; })->call($o); }
    public function __get($name) { suspend(); return "magic $name"; }
    public function __isset($name) { suspend(); return true; }
}

$tasks = [
    // Closure::call and reflection set a scope of their own for the time of the call
    'scope' => fn() => Secret::read(new Secret),
    'no scope' => function() { $o = new Secret; suspend(); return $o->private; },
    'reflection' => function() { $p = new ReflectionProperty(Secret::class, 'private'); suspend(); return $p->getValue(new Secret); },
    'isset and ??' => function() { $o = new Secret; return [isset($o->private), $o->missing ?? 'none', empty($o->other)]; },
    'func_get_args' => fn() => (function() { suspend(); $a = func_get_args(); suspend(); return array_sum($a) + func_num_args(); })(1, 2, 3),
    'compact and extract' => function() { $x = 1; suspend(); extract(['y' => 2]); suspend(); return compact('x', 'y'); },
    'static' => function() { static $n = 0; $n++; suspend(); return $n >= 1; },
    'list with keys' => function() { ['a' => $a, 'b' => [$b]] = (function() { suspend(); return ['a' => 1, 'b' => [2]]; })(); return $a + $b; },
    'string with calls' => function() { $f = function($x) { suspend(); return $x; }; return "a{$f('b')}c{$f('d')}" . $f('e'); },
    'match and ternary' => fn() => match (suspend() ?? 2) { 1 => 'one', 2 => (suspend() ?? true) ? 'two' : '' },
    'named arguments' => fn() => (fn($a, $b = 5, ...$c) => [$a, $b, $c])(b: suspend() ?? 1, a: (function() { delay(1); return 2; })(), z: suspend() ?? 3),
    'foreach by reference' => function() { $a = [1, 2, 3]; foreach ($a as &$v) { suspend(); $v *= 2; } return $a; },
    'constants' => fn() => [defined('NOT_' . random_int(0, 9)), constant('PHP_INT_SIZE') > (suspend() ?? 1)],
    'number formats' => function() { $s = sprintf('%05.2f', 1.5); suspend(); return $s . number_format(1234.5, 1) . var_export(0.1, true); },
    'strtok' => function() { $t = [strtok('a b', ' ')]; $t[] = strtok(' '); suspend(); return $t; },
    'mb and preg errors' => function() { preg_match('/(/u', '') || suspend(); return preg_match('/a/u', "\xff") === false ? preg_last_error() : 0; },
    'json errors' => function() { try { json_decode('{', flags: JSON_THROW_ON_ERROR); } catch (JsonException $e) { suspend(); return $e->getMessage(); } },
    'assert' => function() { try { assert((suspend() ?? 1) === 2); } catch (AssertionError $e) { return $e->getMessage(); } },
];
$plain = [];
set_error_handler(fn() => true);
$jobs = [];
foreach ($tasks as $name => $task) for ($i = 0; $i < 4; $i++) $jobs["$name $i"] = spawn($task);
$results = T\all($jobs);
foreach ($tasks as $name => $task) {
    $all = [];
    for ($i = 0; $i < 4; $i++) $all[json_encode($results["$name $i"])] = true;
    echo "$name: ", implode(' AND ', array_keys($all)), "\n";
}
?>
--EXPECT--
scope: "private"
no scope: "magic private"
reflection: "private"
isset and ??: [true,"magic missing",false]
func_get_args: 9
compact and extract: {"x":1,"y":2}
static: true
list with keys: 3
string with calls: "abcde"
match and ternary: "two"
named arguments: [2,1,{"z":3}]
foreach by reference: [2,4,6]
constants: [false,true]
number formats: "01.501,234.50.1"
strtok: ["a","b"]
mb and preg errors: 4
json errors: "Syntax error"
assert: "assert((suspend() ?? 1) === 2)"
