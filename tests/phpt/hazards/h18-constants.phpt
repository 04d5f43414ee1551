--TEST--
H18 a constant that refers to a class which is being loaded is not taken for one that refers to itself by others
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$goes_on = false;
spl_autoload_register(function(string $class) use (&$goes_on) {
    while (!$goes_on) suspend();
    eval("class $class { const Z = '$class'; }");
});
$ways = [
    'a constant' => ['const Y = L0::Z; const X = self::Y . 1;', fn($class) => $class::X],
    'by its name' => ['const X = L1::Z;', fn($class) => constant("$class::X")],
    'of another class' => ['const Y = L2::Z; } class D2 extends C2 { const X = parent::Y; ', fn() => D2::X],
    'of a property' => ['const X = L3::Z; public $p = [self::X => self::X . L3::Z];', fn($class) => json_encode(new $class)],
    'of a parameter' => ['const X = L4::Z; static function f($p = self::X) { return $p; }', fn($class) => $class::f()],
    'all of them' => ['const X = L5::Z; const Y = [self::X, L5::Z];', fn($class) => json_encode((new ReflectionClass($class))->getConstants())],
];
$number = 0;
foreach ($ways as $name => [$code, $way]) {
    eval("class C$number { $code }");
    $goes_on = false;
    $jobs = array_map(fn() => spawn($way, "C$number"), range(1, 3));
    T\begun(...$jobs);
    $goes_on = true;
    echo "$name: ", implode(' ', T\all($jobs)), "\n";
    $number++;
}
// one that does refer to itself is still told
eval('class Circle { const A = self::B; const B = Missing::Z . self::A; }');
$goes_on = true;
foreach ([spawn(fn() => Circle::A), spawn(fn() => Circle::B)] as $job) echo T\failure($job)->getMessage(), "\n";
?>
--EXPECT--
a constant: L01 L01 L01
by its name: L1 L1 L1
of another class: L2 L2 L2
of a property: {"p":{"L3":"L3L3"}} {"p":{"L3":"L3L3"}} {"p":{"L3":"L3L3"}}
of a parameter: L4 L4 L4
all of them: {"X":"L5","Y":["L5","L5"]} {"X":"L5","Y":["L5","L5"]} {"X":"L5","Y":["L5","L5"]}
Cannot declare self-referencing constant self::B
Cannot declare self-referencing constant self::A
