--TEST--
H3 classes whose parents, interfaces and traits are loaded while they are linked, from several coroutines
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

spl_autoload_register(function(string $class) {
    usleep(2000);
    suspend();
    $code = [
        'Top' => 'abstract class Top { abstract function name(): string; const A = Other::B; }',
        'Other' => 'class Other { const B = 5; }',
        'Face' => 'interface Face extends Countable { const F = "f"; }',
        'Some' => 'trait Some { public static int $made = 0; function count(): int { return ++self::$made; } }',
        'Middle' => 'abstract class Middle extends Top implements Face { use Some; }',
    ];
    if (isset($code[$class])) eval($code[$class]);
    elseif (preg_match('/^Leaf(\d)$/', $class, $m)) eval("class $class extends Middle { function name(): string { return 'leaf $m[1] ' . self::A . self::F; } }");
    elseif (preg_match('/^Enum(\d)$/', $class, $m)) eval("enum $class: int implements Face { case One = $m[1]; function count(): int { return \$this->value; } }");
    suspend();
});
$jobs = [];
for ($i = 0; $i < 24; $i++) {
    $n = $i % 4;
    $jobs[] = match ($i % 3) {
        0 => spawn(fn() => (new ("Leaf$n"))->name() === "leaf $n 5f" && count(new ("Leaf$n")) > 0),
        1 => spawn(fn() => count(constant("Enum$n::One")) === $n),
        2 => spawn(fn() => is_subclass_of("Leaf$n", 'Face') && Middle::F === 'f' && method_exists("Leaf$n", 'count')),
    };
}
var_dump(array_unique(T\all($jobs)));
?>
--EXPECT--
array(1) {
  [0]=>
  bool(true)
}
