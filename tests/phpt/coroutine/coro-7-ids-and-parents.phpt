--TEST--
CORO-7 ids are never used twice while the process lives; the parent is the coroutine that spawned
--FILE--
<?php
use function Async\{await, currentCoroutine, spawn, suspend};

$ids = [currentCoroutine()->getId() => true];
for ($i = 0; $i < 10_000; $i++) {
    $c = spawn(fn() => currentCoroutine()->getId());
    $id = $c->getId();
    if (await($c) !== $id || $c->getId() !== $id) echo "another id inside\n";
    $ids[$id] = true;
}
var_dump(count($ids));

$outer = spawn(function() {
    $inner = spawn(function() { suspend(); return spawn(fn() => 1); });
    $innermost = await($inner);
    return [$inner->getParent() === currentCoroutine(), $innermost->getParent() === $inner, currentCoroutine()->getParent()];
});
[$first, $second, $third] = await($outer);
var_dump($first, $second, $third === currentCoroutine(), currentCoroutine()->getParent());
?>
--EXPECT--
int(10001)
bool(true)
bool(true)
bool(true)
NULL
