<?php
namespace Matrix;

$way = static fn(int $n): callable => static fn($a, $b) => compare($a, $b) * (3 - 2 * $n);
foreach (['Vector', 'Deque', 'Map', 'Set'] as $class) {
    $class = "Ds\\$class";
    $make = static fn() => new $class([5, 3, 8, 1, 9, 2]);
    check("$class::sort", static function ($ds, int $n) use ($way) { $ds->sort($way($n)); return 0; }, $make, static fn($ds) => $ds->toArray(), in: "$class::sort");
    check("$class::sorted", static fn($ds, int $n) => $ds->sorted($way($n))->toArray(), $make, in: "$class::sorted");
    check("$class::filter", static fn($ds, int $n) => $ds->filter(static function ($x) use ($n) { pause(); return $x > 3 * $n; })->toArray(), $make, in: "$class::filter");
    check("$class::map", static fn($ds, int $n) => $ds->map(static function ($x, $y = 0) use ($n) { pause(); return ($x + $y) * $n; })->toArray(), $make, in: "$class::map");
    check("$class::reduce", static fn($ds, int $n) => $ds->reduce(static function ($all, ...$x) { pause(); return "$all $x[0]"; }, $n), $make, in: "$class::reduce");
}
check('Ds\Vector::apply', static function ($ds, int $n) { $ds->apply(static function ($x) use ($n) { pause(); return "$x $n"; }); return 0; }, static fn() => new \Ds\Vector([1, 2, 3]), static fn($ds) => $ds->toArray(), in: 'Ds\Vector::apply');
check('Ds\Vector::join', static fn($ds, int $n) => $ds->join(text(",$n")), static fn() => new \Ds\Vector(texts('a', 'b')), in: 'Ds\Vector::join');
check('Ds\Map::ksort', static function ($ds, int $n) use ($way) { $ds->ksort($way($n)); return 0; }, static fn() => new \Ds\Map(['b' => 1, 'a' => 2, 'c' => 3]), static fn($ds) => $ds->toArray(), in: 'Ds\Map::ksort');
check('Ds\Map::put', static function ($ds, int $n) { $ds->put(new class($n) implements \Ds\Hashable { function __construct(public int $n) {} function hash() { pause(); return 1; } function equals($other): bool { pause(); return $this->n === $other->n; } }, $n); return 0; }, static fn() => new \Ds\Map, static fn($ds) => $ds->count(), in: 'Ds\Map::put');
check('Ds\Set::__construct', static fn($_, int $n) => (new \Ds\Set(new Items([$n, 2, 2])))->toArray(), in: 'Ds\Set::__construct');
