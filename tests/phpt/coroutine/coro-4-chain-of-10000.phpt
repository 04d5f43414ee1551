--TEST--
CORO-4 a chain of 10,000 coroutines that await each other hands on a result, and one exception object
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

$last = spawn(function() { T\turns(100); return 0; });
for ($i = 0; $i < 10_000; $i++) {
    $last = spawn(fn(Async\Coroutine $before) => await($before) + 1, $last);
}
var_dump(await($last));

$thrown = null;
$finally = 0;
$last = spawn(function() use (&$thrown) { T\turns(100); throw $thrown = new RuntimeException('from the far end'); });
for ($i = 0; $i < 10_000; $i++) {
    $last = spawn(function(Async\Coroutine $before) use (&$finally) {
        try {
            await($before);
        } finally {
            $finally++;
        }
    }, $last);
}
var_dump(T\failure($last) === $thrown, $thrown->getPrevious(), $finally);
var_dump(count(Async\getCoroutines()));
?>
--EXPECT--
int(10000)
bool(true)
NULL
int(10000)
int(1)
