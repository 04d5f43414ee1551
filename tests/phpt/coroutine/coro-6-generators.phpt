--TEST--
CORO-6 generators that suspend, that move from one coroutine to another, and that two want at the same time
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

// started in one coroutine, gone on with in another, ended in the script
$generator = (function() {
    try {
        yield 1;
        suspend();
        yield 2;
        suspend();
        $got = yield 3;
        suspend();
        yield from (function() { suspend(); yield 4; return 5; })();
        return "returned after $got";
    } finally {
        echo "finally\n";
    }
})();
echo await(spawn(fn() => $generator->current())), "\n";
await(spawn(function() use ($generator) { $generator->next(); echo $generator->current(), "\n"; }));
$generator->next();
echo $generator->current(), "\n";
echo await(spawn(fn() => $generator->send('a value'))), "\n";
$generator->next();
echo $generator->getReturn(), "\n";

// taking turns
$shared = (function() { for ($i = 1; $i <= 6; $i++) { yield $i; } })();
$taken = [];
$turn = 'a';
$take = function(string $name, string $other) use ($shared, &$taken, &$turn) {
    while ($shared->valid()) {
        if ($turn === $name) {
            $taken[] = $name . $shared->current();
            $shared->next();
            $turn = $other;
        }
        suspend();
    }
};
T\all([spawn($take, 'a', 'b'), spawn($take, 'b', 'a')]);
echo implode(' ', $taken), "\n";

// one is inside of it: for the other it is running
$goes = false;
$busy = (function() use (&$goes) { yield 1; while (!$goes) T\turns(5); yield 2; })();
$busy->current();
$first = spawn(function() use ($busy) { $busy->next(); return $busy->current(); });
T\parked($first);
try {
    $busy->next();
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
$goes = true;
echo await($first), "\n";

// left unfinished in a coroutine that has ended
await(spawn(function() {
    $g = (function() { try { yield 1; yield 2; } finally { suspend(); echo "closed\n"; } })();
    foreach ($g as $x) break;
}));
?>
--EXPECT--
1
2
3
4
finally
returned after a value
a1 b2 a3 b4 a5 b6
Cannot resume an already running generator
2
closed
