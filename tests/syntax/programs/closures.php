<?php
// Closures with and without parentheses, as operands and as plain arguments; no ';' behind them.
use function Async\delay;

final class Counter {
    private int $n = 0;
    public function run(): int {
        $job = spawn function { $this->n += 10; };
        await $job;
        await spawn static function: void { echo isset($this) ? 'this' : 'static', "\n"; };
        await spawn fn() => $this->n++;
        return $this->n;
    }
}
echo (new Counter)->run(), "\n";

$word = 'outer';
$total = 0;
spawn function use ($word, &$total) {
    echo "begin $word\n";
    delay(5);
    $total += 1;
    echo "end $word\n";
}
spawn function use (&$total): void { $total += 2; echo "typed\n"; }
spawn function () { echo "parentheses\n"; }
if (true) spawn function { echo "in if\n"; } else spawn function { echo "never\n"; }
await children;
echo $total, "\n";

$made = spawn function: ?string {
    $inner = function { return 'plain closure'; };
    return $inner();
};
echo await $made, "\n";
echo await spawn #[Pure] function: array|string { return 'attribute'; }, "\n";
$by_reference = function &use (&$total) { return $total; };
$place = &$by_reference();
$place = 100;
echo $total, ' ', implode(',', array_map(function { return 'x'; }, [1, 2])), "\n";
echo await spawn fn(): int => await spawn fn() => 1 + 2 * 3, "\n";
$jobs = [spawn fn() => 'a', 'key' => spawn function { return 'b'; }, spawn strtoupper('c')];
foreach ($jobs as $key => $job) echo $key, await $job, ' ';
echo "\n";
