--TEST--
H3 a class that one coroutine is linking, while its parent or an interface is loaded, is waited for, not missing
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
T\work_in([
    'Base.php' => '<?php Async\delay(5); class Base {}',
    'Face.php' => '<?php Async\delay(20); interface Face {}',
    'Middle.php' => '<?php class Middle extends Base implements Face {}',
    'Plain.php' => '<?php class Plain extends Base2 {}', // required, not loaded by an autoloader
    'Base2.php' => '<?php Async\delay(20); class Base2 {}',
    'Broken.php' => '<?php class Broken implements Nowhere {}',
]);
spl_autoload_register(function($class) {
    if ($class === 'Nowhere') T\turns(20);
    if (is_file("$class.php")) require_once "$class.php";
});
$jobs = [];
for ($ms = 0; $ms <= 30; $ms += 3) {
    $jobs[] = spawn(function() use ($ms) { T\turns($ms); return class_exists('Middle') && new Middle instanceof Face; });
}
var_dump(array_unique(T\all($jobs)));

$first = spawn(fn() => require_once 'Plain.php');
$second = spawn(function() { T\turns(10); return (new Plain)::class; });
echo json_encode(T\all([$first, $second])), "\n";

// one that cannot be linked is an error, for each
for ($i = 0, $jobs = []; $i < 2; $i++) $jobs[] = spawn(function() { try { new Broken; } catch (Error $e) { return $e->getMessage(); } });
$errors = T\all($jobs);
sort($errors);
echo json_encode($errors), "\n";
echo json_encode(preg_grep('/spindle/', get_declared_classes())), "\n";
?>
--EXPECT--
array(1) {
  [0]=>
  bool(true)
}
[1,"Plain"]
["Class \"Broken\" not found","Interface \"Nowhere\" not found"]
[]
