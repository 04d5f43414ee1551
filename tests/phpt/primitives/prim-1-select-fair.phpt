--TEST--
PRIM-1 select(): of those that can be carried out each is as likely, wherever in the list the others are
--INI--
async.seed=7
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, Future};
use function Async\{select, spawn, trySelect};

// of eight and of a hundred, the first, the sixth and the last: the seed makes the counts repeat
foreach ([8, 100] as $many) {
    $channels = [];
    for ($i = 0; $i < $many; $i++) {
        $channels[] = new Channel(10000);
    }
    $full = [0, 5, $many - 1];
    foreach ($full as $at) {
        for ($i = 0; $i < 3000; $i++) {
            $channels[$at]->send($i);
        }
    }
    foreach (['select', 'trySelect'] as $function) {
        $counts = array_fill(0, $many, 0);
        for ($i = 0; $i < 1500; $i++) {
            [$key] = ("Async\\$function")($channels);
            $counts[$key]++;
        }
        $near = array_filter($full, fn($at) => abs($counts[$at] - 500) < 80);
        T\check("$function of $many", $near === $full, $counts);
    }
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
select of 8: yes
trySelect of 8: yes
select of 100: yes
trySelect of 100: yes
kinds: yes
