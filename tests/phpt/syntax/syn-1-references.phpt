--TEST--
SYN-1 what spawn passes by reference is shared as long as the coroutine runs, and let go with it
--FILE--
<?php
require __DIR__ . '/kit.inc';

function counts(int &$n, int $to): void { while ($n < $to) { $n++; suspend; } }
function waits_for(&$value): mixed { while ($value === null) suspend; return $value; }
function fills(&...$places): int { foreach ($places as $key => &$place) { suspend; $place = "filled $key"; } return count($places); }

// both sides see what the other one writes, also those that were not there
$n = 0;
$later = new stdClass;
$counts = spawn counts($n, 1000);
$waits = spawn waits_for($later->is['there']);
while ($n < 2) suspend;
$n = 999;
$later->is['there'] = 'it is';
await $counts;
echo $n, ' ', await $waits, "\n";

// what a closure has by reference, static variables, elements in a loop by reference
$total = 0;
$adds = function (int $by) use (&$total): void { suspend; $total += $by; };
$passes_on = function () use (&$total) { await spawn counts($total, 3); };
await spawn $passes_on();
foreach ([spawn $adds(10), spawn $adds(by: 20)] as $c) await $c;
function remembers(): int { static $calls = 0; await spawn counts($calls, $calls + 1); return $calls; }
remembers();
$words = ['a' => null, 'b' => null];
foreach ($words as &$word) $all[] = spawn fills($word);
unset($word);
foreach ($all as $c) await $c;
echo $total, ' ', remembers(), ' ', json_encode($words), "\n";

// the variable is gone, the reference is not
function starts(): array { $local = 1; return [spawn counts($local, 3), fn() => $local, function () use (&$local) { return $local; }]; }
[$c, $before, $after] = starts();
await $c;
echo $before(), ' ', $after(), "\n";
$gone = 0;
$c = spawn counts($gone, 3);
unset($gone);
await $c;
var_dump(isset($gone));

// many places, by name too; those that are not collected stay values
$o = new class { public $p; public ?array $list = null; public static $s; };
$count = await spawn fills($o->p, $o->list['x'][], $o::$s, $new, named: $named, also: $list[0]['deep']);
echo $count, ' ', json_encode([$o, $o::$s, $new, $named, $list]), "\n";
$values = ['k' => 1, 'l' => 2];
await spawn fills(...$values);
echo json_encode($values), "\n";

// a copy of an array that holds a reference keeps it, as in a call
$inner = 1;
$holder = [&$inner];
$takes = function (array $copy) { $copy[0] = 'changed'; $copy[] = 'added'; return $copy; };
await spawn $takes($holder);
echo json_encode([$holder, $inner]), "\n";

// functions that take a reference where they can have one
$numbers = [3, 1, 2];
$names = ['c', 'a', 'b'];
await spawn array_multisort($numbers, SORT_DESC, $names);
echo json_encode([$numbers, $names, await spawn array_multisort([1], [2])]), "\n";

// a type stays one, and what breaks it is told to whom it belongs
$typed = new class { public int $n = 1; };
$breaks = function (&$x) { $x = 'text'; };
echo said(T\failure(spawn $breaks($typed->n))), ' ', $typed->n, "\n";

// the last ones to hold them are let go with the coroutine
final class Gone { public function __construct(private string $name) {} public function __destruct() { echo "$this->name is gone\n"; } }
$go = false;
$takes = function (&$x, ...$rest) use (&$go) { while (!$go) suspend; };
$x = new Gone('by reference');
$weak = WeakReference::create($x);
$c = spawn $takes($x, new Gone('by value'), named: new Gone('by name'));
unset($x);
T\begun($c);
echo $weak->get() ? "there\n" : "not there\n";
$go = true;
await $c;
echo $weak->get() ? "there\n" : "not there\n";
?>
--EXPECTF--
1000 it is
33 2 {"a":"filled 0","b":"filled 0"}
1 3
bool(false)
6 [{"p":"filled 0","list":{"x":["filled 1"]}},"filled 2","filled 3","filled named",[{"deep":"filled also"}]]
{"k":"filled k","l":"filled l"}
[["changed"],"changed"]
[[3,2,1],["c","b","a"],true]
TypeError: Cannot assign string to reference held by property class@anonymous::$n of type int 1
there
by reference is gone
by value is gone
by name is gone
not there
