--TEST--
FIB-1 A fiber of PHP's that is suspended inside of calls, resumed from inside of others and from other coroutines, or destroyed
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use function Async\{await, spawn, suspend};

error_reporting(E_ALL & ~E_DEPRECATED); // methods of PDO, from PHP 8.5 on

/** A fiber that is suspended in callbacks of calls of C code, which use a handle. */
function inside(): Fiber {
    return new Fiber(function () {
        $pdo = new PDO('sqlite::memory:');
        $pdo->sqliteCreateFunction('give', fn($value) => Fiber::suspend($value));
        $rows = array_map(fn($sql) => $pdo->query($sql)->fetchColumn(), ["select give('a')", "select give('b') || 'c'"]);
        return implode(' ', $rows);
    });
}
/** Runs a fiber to its end: each resume is made from inside of a call. */
function drive(Fiber $fiber, callable $resume): string {
    $given = [$fiber->start()];
    while (!$fiber->isTerminated()) {
        $given[] = array_map(fn() => $resume(strtoupper(end($given)), $fiber), [1])[0];
    }
    return implode(',', $given) . ': ' . $fiber->getReturn();
}
$resume = fn($value, $fiber) => $fiber->resume($value);

echo drive(inside(), $resume), "\n";
$left = inside();
$left->start();
array_map(fn() => $left->resume('x'), [1]);
$old = inside();
$old->start(); // before there are coroutines
unset($left);
gc_collect_cycles();

await(spawn(fn() => suspend()));
echo $old->resume('O'), ' ', $old->resume('P'), $old->getReturn(), "\n";
echo drive(inside(), $resume), "\n";
echo await(spawn(fn() => drive(inside(), $resume))), "\n";
echo drive(inside(), fn($value, $fiber) => await(spawn(fn() => $fiber->resume($value)))), "\n";
try {
    array_map(fn() => Fiber::suspend(1), [1]);
} catch (FiberError $e) {
    echo $e->getMessage(), "\n";
}
$pdo = new PDO('sqlite::memory:');
echo $pdo->query('select 1')->fetchColumn(), "\n";
?>
--EXPECT--
a,b,: A Bc
b O Pc
a,b,: A Bc
a,b,: A Bc
a,b,: A Bc
Cannot suspend outside of a fiber
1
