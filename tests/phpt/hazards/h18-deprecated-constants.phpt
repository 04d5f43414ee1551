--TEST--
H18 each coroutine that uses a deprecated constant hears of it, also while another one's error handler waits
--SKIPIF--
<?php if (PHP_VERSION_ID < 80400) die('skip the attribute Deprecated came with PHP 8.4'); ?>
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

class Old
{
    #[\Deprecated] const C = 5;
    #[\Deprecated] const LIST = [1, 2];
    #[\Deprecated] const NESTED = self::LIST;
}
$uses = [
    'as it is' => fn() => Old::C,
    'by its name' => fn() => constant('Old::C'),
    'found at run time' => fn() => Old::{'LIST'},
    'of another one' => fn() => Old::NESTED,
];
if (PHP_VERSION_ID >= 80500) {
    eval('#[\Deprecated] const OLD = 7;');
    $uses['of no class'] = fn() => constant('OLD');
}
$good = 0;
foreach ($uses as $name => $use) {
    // One that has suspended before, in frames that are still there, and one without parameters.
    foreach ([fn(int $level, string $text) => suspend(), fn() => suspend(), fn(...$all) => suspend()] as $number => $wait) {
        $count = 0;
        set_error_handler(function (int $level, string $text, string $file, int $line) use ($wait, &$count) { $count++; $wait($level, $text); suspend(); return true; });
        $use(); // evaluates it
        $count = 0;
        T\all(array_map(fn() => spawn(function () use ($use) { suspend(); return $use(); }), range(1, 3)));
        $heard = $count;

        set_error_handler(function () use ($wait) { $wait(1, ''); throw new LogicException('thrown'); });
        $failures = array_map(T\failure(...), array_map(fn() => spawn($use), range(1, 3)));

        // In the handler of its own use it stays marked, also after the handler was suspended.
        $count = 0;
        set_error_handler(function () use ($use, $wait, &$count) { if (++$count < 5) { $use(); $wait(1, ''); $use(); } return true; });
        T\all([spawn($use), spawn($use)]);
        if ([$heard, $count] === [3, 2] && array_map(fn($e) => $e?->getMessage(), $failures) === ['thrown', 'thrown', 'thrown']) $good++;
        else echo "$name, $number: $heard $count ", json_encode(array_map(fn($e) => $e?->getMessage(), $failures)), "\n";
        restore_error_handler();
        restore_error_handler();
        restore_error_handler();
    }
}
echo $good === 3 * count($uses) ? "all hear of it\n" : "$good\n";
?>
--EXPECT--
all hear of it
