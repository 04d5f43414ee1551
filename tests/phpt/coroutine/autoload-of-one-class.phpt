--TEST--
CORO-6 IO-9 one class wanted by many coroutines is loaded once, by a loader that blocks, and is there for each
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in([
    'Base.php' => '<?php usleep(10_000); class Base { const NAME = "base"; }',
    'Wanted.php' => '<?php usleep(10_000); interface_exists("Face"); class Wanted extends Base implements Face { public static $count = 0; public static function make() { return new self; } }',
    'Face.php' => '<?php Async\delay(5); interface Face {}',
]);
$loads = [];
spl_autoload_register(function(string $class) use (&$loads) {
    $loads[] = $class;
    suspend();
    if (is_file("$class.php")) {
        usleep(5000);
        require "$class.php";
    }
});
$ways = [
    fn() => (new Wanted)::NAME,
    fn() => get_class(Wanted::make()),
    fn() => Wanted::$count,
    fn() => class_exists('Wanted'),
    fn() => is_subclass_of('Wanted', 'Base'),
    fn() => (new ReflectionClass('Wanted'))->getParentClass()->name,
    fn() => interface_exists('Face') && is_callable('Wanted::make'),
    fn() => unserialize('O:6:"Wanted":0:{}') instanceof Face,
    fn() => class_exists('Nowhere'),
];
$jobs = [];
for ($i = 0; $i < 45; $i++) $jobs[] = spawn($ways[$i % 9]);
$results = T\all($jobs);
foreach (array_slice($results, 0, 9) as $i => $result) {
    echo json_encode($result), array_unique(array_filter($results, fn($k) => $k % 9 === $i, ARRAY_FILTER_USE_KEY), SORT_REGULAR) === [$i => $result] ? '' : ' and others', "\n";
}
$counts = array_count_values($loads);
echo "Wanted {$counts['Wanted']}, Base {$counts['Base']}, Face {$counts['Face']}\n";
?>
--EXPECT--
"base"
"Wanted"
0
true
true
"Base"
true
true
false
Wanted 1, Base 1, Face 1
