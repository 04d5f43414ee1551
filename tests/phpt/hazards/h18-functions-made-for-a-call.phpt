--TEST--
H18 a coroutine that is left below a function which the engine has made for that one call: nothing is read from what it lies in
--FILE--
<?php
use function Async\{await, spawn, suspend};

/** Leaves memory behind, of the size of a function, in which no address is valid. */
function litter(): void
{
    $all = [];
    foreach (range(1, 50) as $i) $all[] = str_repeat("\x7f", 226);
}

$closure = function (string $what): string {
    suspend();
    return $what;
};
$jobs = [];
foreach (['a', 'b', 'c'] as $what) {
    $jobs[] = spawn(function () use ($closure, $what) {
        litter();
        $result = $closure->__invoke($what);
        litter();
        return $result . call_user_func([$closure, '__invoke'], $what) . array_map([$closure, '__invoke'], [$what])[0];
    });
}
foreach ($jobs as $job) echo await($job), "\n";
?>
--EXPECT--
aaa
bbb
ccc
