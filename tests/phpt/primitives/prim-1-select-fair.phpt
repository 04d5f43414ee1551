--TEST--
PRIM-1 select(): of those that can be carried out each is as likely, wherever in the list the others are
--INI--
async.seed=7
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, Future};
use function Async\{select, spawn, trySelect};

// of eight, the first, the sixth and the last: the seed makes the counts repeat
$channels = [];
for ($i = 0; $i < 8; $i++) {
    $channels[] = new Channel(10000);
}
foreach ([0, 5, 7] as $full) {
    for ($i = 0; $i < 3000; $i++) {
        $channels[$full]->send($i);
    }
}
foreach (['select', 'trySelect'] as $function) {
    $counts = [0, 0, 0, 0, 0, 0, 0, 0];
    for ($i = 0; $i < 1500; $i++) {
        [$key] = ("Async\\$function")($channels);
        $counts[$key]++;
    }
    $near = array_map(fn($n) => abs($n - 500) < 80, [$counts[0], $counts[5], $counts[7]]);
    T\check($function, $near === [true, true, true], $counts);
}
// kinds do not matter
$counts = ['receive' => 0, 'send' => 0, 'await' => 0];
for ($i = 0; $i < 1500; $i++) {
    $in = new Channel(1);
    $in->send(1);
    [$key] = select(['receive' => $in, 'send' => [new Channel(1), 1], 'await' => Future::completed()]);
    $counts[$key]++;
}
T\check('kinds', max($counts) - min($counts) < 120, $counts);
?>
--EXPECT--
select: yes
trySelect: yes
kinds: yes
