--TEST--
What is loaded is what the stubs say: a PHP without the extension that runs them has the same functions and classes
--FILE--
<?php
require __DIR__ . '/api.inc';

$extension = new ReflectionExtension('spindle');
// Its parent is final for user code, so no stub that runs can declare it; api-shape.phpt has its shape.
$classes = array_diff_key($extension->getClasses(), ['ReflectionFiberScheduler' => 1]);
// Nor can it declare classes that extend those of other extensions: api-stub-connections.phpt.
$parents = ['PDO', 'Redis', 'mysqli'];
$classes = array_filter($classes, fn($class) => !in_array($class->getParentClass() ? $class->getParentClass()->name : '', $parents));
$loaded = Api\shape($extension->getFunctions(), $classes);

$code = 'const PARENTS = ' . var_export($parents, true) . ";\n" . <<<'PHP'
    require $argv[1];
    $known = [...get_declared_classes(), ...get_declared_interfaces(), ...get_defined_functions()['user']];
    foreach (array_slice($argv, 2) as $stub) require $stub;
    $classes = array_diff([...get_declared_classes(), ...get_declared_interfaces()], $known);
    // Where those extensions are in PHP's executable, the stubs declare them.
    $classes = array_filter($classes, fn($name) => !in_array(get_parent_class($name), PARENTS));
    $functions = array_diff(get_defined_functions()['user'], $known);
    echo Api\shape(
        array_map(fn($name) => new ReflectionFunction($name), $functions),
        array_map(fn($name) => new ReflectionClass($name), $classes),
    );
    PHP;
$main = getenv('SPINDLE_ROOT') . '/stubs/spindle.stub.php';
$others = array_diff(glob(dirname($main) . '/*.stub.php'), [$main]);
$command = [PHP_BINARY, '-n', '-d', 'display_errors=stderr', '-r', $code, __DIR__ . '/api.inc', $main, ...$others];
exec(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1', $stub, $status);

$loaded = explode("\n", rtrim($loaded));
echo "status $status, ", count($loaded) > 100 ? 'a hundred lines at least' : 'too little', "\n";
foreach (array_diff($stub, $loaded) as $line) echo "in the stub alone: $line\n";
foreach (array_diff($loaded, $stub) as $line) echo "loaded alone: $line\n";
var_dump($stub === $loaded);
?>
--EXPECT--
status 0, a hundred lines at least
bool(true)
