--TEST--
Classes that extend those of other extensions are what their stub says
--EXTENSIONS--
pdo
redis
mysqlnd
mysqli
--FILE--
<?php
require __DIR__ . '/api.inc';

$extends = fn(ReflectionClass $class) => in_array($class->getParentClass() ? $class->getParentClass()->name : '', ['PDO', 'Redis', 'mysqli']);
$loaded = Api\shape([], array_filter((new ReflectionExtension('spindle'))->getClasses(), $extends));

$code = <<<'PHP'
    require $argv[1];
    $known = get_declared_classes();
    require $argv[2];
    echo Api\shape([], array_map(fn($name) => new ReflectionClass($name), array_diff(get_declared_classes(), $known)));
    PHP;
$command = [PHP_BINARY, '-d', 'display_errors=stderr', '-r', $code, __DIR__ . '/api.inc', getenv('SPINDLE_ROOT') . '/stubs/connections.stub.php'];
exec(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1', $stub, $status);
$loaded = explode("\n", rtrim($loaded));
echo "status $status, ", count($loaded), " lines\n";
foreach (array_diff($stub, $loaded) as $line) echo "in the stub alone: $line\n";
foreach (array_diff($loaded, $stub) as $line) echo "loaded alone: $line\n";

// Beside those, the methods are the parents'.
foreach (['Async\PooledPDO' => PDO::class, 'Async\PooledRedis' => Redis::class, 'Async\PooledMysqli' => mysqli::class] as $name => $parent) {
    $methods = fn(string $class) => array_map(
        fn($method) => Api\signature($method),
        array_filter((new ReflectionClass($class))->getMethods(), fn($method) => $method->class === $parent && $method->name !== '__construct' && $method->name !== '__destruct'),
    );
    var_dump(array_values($methods($name)) === array_values($methods($parent)));
}
?>
--EXPECT--
status 0, 17 lines
bool(true)
bool(true)
bool(true)
