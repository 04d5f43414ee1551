<?php
// How far an operand of await reaches; until, children, suspend; failures and their lines.
use Async\AwaitCancelledException;
use function Async\{delay, timeout};

class Box { public function __construct(public mixed $value) {} public function get(): mixed { return $this->value; } }
function number(int $n): int { suspend; return $n; }

$a = spawn number(2);
$b = spawn number(3);
$box = new Box(['job' => spawn number(4)]);
echo await $a + 1, ' ', 10 - await $b * 2, ' ', await $a ** 2, ' ', -await $a, ' ', !await $a ? 'no' : 'yes', "\n";
echo await $box->value['job'], ' ', await $box->get()['job'] . '!', ' ', (await $box->value['job']) <=> 4, "\n";
echo await $c = spawn number(5), ' ', await $c, ' ', await $b ?? 'null', "\n";
echo match (await $a) { await $b => 'three', 2 => 'two' }, ' ', await match (true) { default => $b }, "\n";
$generator = (function use ($a) { yield await spawn number(6); yield from [await spawn number(7), await $a]; })();
foreach ($generator as $value) echo await spawn number($value), ' ';
echo "\n";

$slow = spawn function { delay(30); return 'done'; };
try {
    await $slow until timeout(1);
} catch (AwaitCancelledException $e) {
    echo get_class($e), ' ', $e->getLine(), "\n";
}
echo await $slow until timeout(60_000), ' ', await
    spawn number(8)
    until
    timeout(60_000), "\n";

await spawn function {
    foreach (['b' => 20, 'a' => 1] as $name => $ms) {
        spawn function use ($name, $ms) { delay($ms); echo "$name\n"; };
    }
    await children;
    echo "children\n";
    spawn function { delay(1); echo "c\n"; };
    await spawned until timeout(60_000);
    echo "spawned\n";
};

spawn function { echo "second\n"; };
echo "first\n";
suspend;
echo "third\n";
for ($i = 0; $i < 2; $i++) suspend;
if ($i) { suspend; } else suspend;
switch ($i) { case 2: suspend; default: suspend; }

function fails(): void { throw new LogicException('failed in ' . __FUNCTION__ . ' ' . __LINE__); }
try {
    await spawn
        fails();
} catch (LogicException $e) {
    echo $e->getMessage(), ' ', $e->getLine(), "\n";
}
try { await spawn function { await spawn fails(); }; } catch (LogicException $e) { echo $e->getLine(), "\n"; }
$await = fn(int ...$n) => await spawn array_sum($n);
echo $await(1, 2, 3), "\n";
