--TEST--
CORO-1 named, spread and variadic arguments arrive as in a call
--FILE--
<?php
use function Async\{await, spawn};

function show(int $a, int $b = 2, int ...$rest): string
{
    return json_encode([$a, $b, $rest, func_num_args()]);
}

foreach ([
    spawn('show', 1),
    spawn(show(...), 1, b: 5),
    spawn('show', b: 8, a: 7),
    spawn('show', ...[1, 2, 3, 4]),
    spawn('show', ...['b' => 9, 'a' => 8]),
    spawn('show', 1, 2, x: 3, y: 4),
    spawn('json_encode', [1], flags: JSON_PRETTY_PRINT),
    spawn(fn(...$all) => json_encode($all), 1, two: 2),
] as $coroutine) {
    echo await($coroutine), "\n";
}

// a thousand of them
echo array_sum(await(spawn(fn(...$all) => $all, ...range(1, 1000)))), "\n";
?>
--EXPECT--
[1,2,[],1]
[1,5,[],2]
[7,8,[],2]
[1,2,[3,4],4]
[8,9,[],2]
[1,2,{"x":3,"y":4},2]
[
    1
]
{"0":1,"two":2}
500500
