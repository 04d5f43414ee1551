--TEST--
CORO-4 CORO-7 a Coroutine comes from spawn() only: it is not made, copied, stored or read back
--FILE--
<?php
use function Async\{await, spawn};

$good = spawn(fn() => 1);
$ways = [
    'new' => fn() => new Async\Coroutine,
    'clone' => fn() => clone $good,
    'serialize' => fn() => serialize($good),
    'unserialize' => fn() => unserialize('O:15:"Async\Coroutine":0:{}'),
    'unserialize, C' => fn() => unserialize('C:15:"Async\Coroutine":0:{}'),
    'without constructor' => fn() => (new ReflectionClass(Async\Coroutine::class))->newInstanceWithoutConstructor()->getId(),
];
foreach ($ways as $name => $way) {
    try {
        $made = @$way();
        echo "$name: ", $made === false ? 'refused' : 'made', "\n";
    } catch (Throwable $e) {
        echo "$name: refused\n";
    }
}
var_dump(await($good), $good == $good);
?>
--EXPECT--
new: refused
clone: refused
serialize: refused
unserialize: refused
unserialize, C: refused
without constructor: refused
int(1)
bool(true)
