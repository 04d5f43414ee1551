--TEST--
What is loaded is what stubs/spindle.stub.php says: a PHP without the extension that runs the stub has the same functions and classes
--FILE--
<?php
require __DIR__ . '/api.inc';

$extension = new ReflectionExtension('spindle');
$loaded = Api\shape($extension->getFunctions(), $extension->getClasses());

$code = <<<'PHP'
    require $argv[1];
    $known = [...get_declared_classes(), ...get_declared_interfaces(), ...get_defined_functions()['user']];
    require $argv[2];
    $classes = array_diff([...get_declared_classes(), ...get_declared_interfaces()], $known);
    $functions = array_diff(get_defined_functions()['user'], $known);
    echo Api\shape(
        array_map(fn($name) => new ReflectionFunction($name), $functions),
        array_map(fn($name) => new ReflectionClass($name), $classes),
    );
    PHP;
$command = [PHP_BINARY, '-n', '-d', 'display_errors=stderr', '-r', $code, __DIR__ . '/api.inc', getenv('SPINDLE_ROOT') . '/stubs/spindle.stub.php'];
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
