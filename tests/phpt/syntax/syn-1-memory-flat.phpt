--TEST--
SYN-1 200,000 spawned calls of each kind of argument and callee, one after the other, leave no memory behind
--FILE--
<?php
require __DIR__ . '/kit.inc';

class Box
{
    public array $list = ['k' => null];
    public ?Box $none = null;
    public function method($x = null, ...$rest) { return $x; }
    public static function statically(&$x) { $x .= 'x'; return $x; }
    public function __call($name, $arguments) { return $arguments; }
    private function own() { return 1; }
    public function inside() { return await spawn $this->own(); }
}
function value($x) { return $x; }
function reference(&$x, &...$more) { $x = 'x' . strlen($x ?? ''); foreach ($more as &$m) $m = [$x]; }
function fails($x) { throw new LogicException('x'); }

$box = new Box;
$box->list['k'] = fn($x) => [$x, $x];
$text = str_repeat('x', 100);
$kinds = [
    'a function' => function () use ($text) { await spawn value($text . 'y'); },
    'of PHP' => function () use ($text) { await spawn str_replace('x', 'yy', subject: $text, count: $n); },
    'by reference' => function () use ($text) { $x = $text; await spawn reference($x, $y, $z['deep'][], named: $w); },
    'by name' => function () use ($text) { await spawn value(x: $text . 'y'); },
    'collected' => function () use ($box, $text) { await spawn $box->method(...['a' => $text . 'a', 'b' => [$text]]); },
    'a closure' => function () use ($text) { $f = function ($x) use ($text) { suspend; return $text . $x; }; await spawn $f($text); },
    'a magic method' => function () use ($box, $text) { await spawn $box->{"any$text"}($text . 'y', b: $text . 'z'); },
    'a static method' => function () use ($text) { $x = $text; await spawn Box::statically($x); },
    'a private method' => function () use ($box) { $box->inside(); },
    'nullsafe' => function () use ($box, $text) { await spawn $box?->method($text . 'y'); spawn $box?->none?->method($text . 'y'); await spawn $box?->list['k']($text); },
    'that fails' => function () use ($text) { T\failure(spawn fails($text . 'y')); },
    'refused' => function () use ($box, $text) { try { spawn value(zz: $text . 'y'); } catch (Error) {} try { spawn $box?->inside(...[$text . 'y'], ...fails(1)); } catch (Exception) {} },
    'never started' => function () use ($text) { $x = $text; $c = spawn reference($x, k: $y); $c->cancel(); T\failure($c); },
    'spawn function' => function () use ($text) { await spawn function use ($text) { suspend; return $text . 'y'; }; },
];
$n = intdiv(200_000, count($kinds));
foreach ($kinds as $name => $kind) {
    for ($i = 0; $i < 200; $i++) $kind();
    gc_collect_cycles();
    $before = memory_get_usage();
    for ($i = 0; $i < $n; $i++) $kind();
    gc_collect_cycles();
    $grown = memory_get_usage() - $before;
    T\check($name, $grown < 50_000, "grown by $grown");
}
?>
--EXPECT--
a function: yes
of PHP: yes
by reference: yes
by name: yes
collected: yes
a closure: yes
a magic method: yes
a static method: yes
a private method: yes
nullsafe: yes
that fails: yes
refused: yes
never started: yes
spawn function: yes
