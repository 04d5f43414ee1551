--TEST--
SYN-1 the operators beside the syntax of PHP 8.5: the pipe, clone with properties, (void)
--SKIPIF--
<?php if (PHP_VERSION_ID < 80500) die('skip that syntax came with PHP 8.5'); ?>
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

function slow(string $x): string { suspend; return strtoupper($x); }
echo 'abc' |> slow(...) |> strrev(...) |> (fn($x) => await spawn slow($x)), "\n";
echo await (spawn slow('x') |> (fn($c) => $c)), ' ', await spawn slow('y') |> strtolower(...), "\n";
$await = fn($coroutine) => await $coroutine;
echo 'piped' |> (fn($x) => spawn slow($x)) |> $await, "\n";

class Point { public function __construct(public readonly int $x = 0, public int $y = 0) {} public function __clone() { Async\suspend(); } public function with(int $x): static { return clone($this, ['x' => $x]); } }
$p = new Point(1, 2);
$q = clone($p, ['y' => await spawn function () { suspend; return 7; }]);
echo json_encode([$q, await spawn $p->with(5), T\all([spawn fn() => clone($p, ['y' => 1]), spawn fn() => clone($p, ['y' => 2])])]), "\n";

#[NoDiscard] function result(): int { return 1; }
(void) result();
(void) await spawn result();
(void) spawn result();
echo "done\n";
?>
--EXPECT--
CBA
X y
PIPED
[{"x":1,"y":7},{"x":5,"y":2},[{"x":1,"y":1},{"x":1,"y":2}]]
done
