--TEST--
CORO-6 five coroutines inside the sorting and comparing functions at once, each suspending in its own comparison
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

mt_srand(7);
$numbers = range(1, 40);
shuffle($numbers);
$current = null;
$switches = 0;

// who compares, with a pause in the middle
$by = function(string $name, callable $compare) use (&$current, &$switches): Closure {
    return function($a, $b) use ($name, $compare, &$current, &$switches) {
        if ($current !== $name) {
            $switches++;
            $current = $name;
        }
        suspend();
        return $compare($a, $b);
    };
};
$jobs = [
    'usort' => spawn(function() use ($numbers, $by) { usort($numbers, $by('usort', fn($a, $b) => $a <=> $b)); return $numbers === range(1, 40); }),
    'usort down' => spawn(function() use ($numbers, $by) { usort($numbers, $by('down', fn($a, $b) => $b <=> $a)); return $numbers === range(40, 1); }),
    'uasort' => spawn(function() use ($numbers, $by) { uasort($numbers, $by('uasort', fn($a, $b) => $a <=> $b)); return array_values($numbers) === range(1, 40); }),
    'uksort' => spawn(function() use ($numbers, $by) { uksort($numbers, $by('uksort', fn($a, $b) => $b <=> $a)); return array_keys($numbers) === range(39, 0); }),
    'array_udiff' => spawn(fn() => array_values(array_udiff($numbers, range(5, 40), $by('diff', fn($a, $b) => $a <=> $b)))),
    'array_uintersect_uassoc' => spawn(fn() => array_uintersect_uassoc(['a' => 1, 'b' => 2, 'c' => 3], ['c' => 3, 'b' => 1, 'a' => 1], $by('values', fn($a, $b) => $a <=> $b), $by('keys', fn($a, $b) => strcmp($a, $b)))),
];
foreach (T\all($jobs) as $name => $result) {
    if (is_array($result)) sort($result);
    echo "$name: ", json_encode($result), "\n";
}
T\check('interleaved', $switches > 100, $switches);
?>
--EXPECT--
usort: true
usort down: true
uasort: true
uksort: true
array_udiff: [1,2,3,4]
array_uintersect_uassoc: [1,3]
interleaved: yes
