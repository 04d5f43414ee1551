--TEST--
An allocator that is preloaded: the module frees nothing that the engine has allocated with it
--SKIPIF--
<?php
foreach (['jemalloc.so.2', 'tcmalloc.so.4', 'mimalloc.so.2'] as $name) if (glob("/usr/lib/*/lib$name")) exit;
die('skip reason: there is neither jemalloc nor tcmalloc nor mimalloc');
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    $key = new Async\Key('a key');
    $scope = new Async\Scope();
    for ($i = 0; $i < 50; $i++) {
        $scope->spawn(function () use ($i): void {
            gethostbyname('localhost');
            file_put_contents('php://memory', file_get_contents(PHP_BINARY, length: 100_000));
            shell_exec('true');
            $i === 7 && throw new Exception("one");
        });
    }
    try {
        $scope->awaitCompletion(Async\timeout(60_000));
    } catch (Exception $e) {
        echo get_class($e), ' ', $key->description, "\n";
    }
    PHP;
foreach (['jemalloc.so.2', 'tcmalloc.so.4', 'mimalloc.so.2'] as $name) {
    if ($found = glob("/usr/lib/*/lib$name")) {
        putenv("LD_PRELOAD=$found[0]");
        $ended = T\command(escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -r ' . escapeshellarg($code)); // some of PHP's own extensions abort there
        putenv('LD_PRELOAD');
        echo $ended, "\n";
        break;
    }
}
?>
--EXPECT--
[0] Exception a key
