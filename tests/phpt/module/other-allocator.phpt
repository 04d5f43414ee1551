--TEST--
An allocator that is preloaded: what the engine, libc and Rust's library have allocated with it, the module frees with it
--EXTENSIONS--
pcntl
--SKIPIF--
<?php
foreach (['jemalloc.so.2', 'tcmalloc.so.4', 'mimalloc.so.2'] as $name) if (glob("/usr/lib/*/lib$name")) exit;
die('skip reason: there is neither jemalloc nor tcmalloc nor mimalloc');
--FILE--
<?php
require __DIR__ . '/kit.inc';

$programs = [
    'calls' => <<<'PHP'
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
        PHP,
    // It resolves the links of its paths.
    'server' => <<<'PHP'
        $server = (new Async\Http\Server())->listen('127.0.0.1:0');
        $server->fastcgi('/php/', 'unix:/nowhere', '.', ['sendfile' => ['/files/' => '.']]);
        $server->worker(fn () => print($_SERVER['SCRIPT_NAME']));
        Async\spawn($server->run(...));
        echo file_get_contents("http://{$server->address()}/"), "\n";
        $server->stop();
        PHP,
    // The allocator takes its locks then, which are hooked as soon as a library with locks is loaded. What it does for the hook depends on
    // what was allocated before.
    'fork' => <<<'PHP'
        for ($i = 0; $i < 20 * (int) ini_get('async.seed'); $i++) Async\spawn(Async\delay(...), 1);
        Async\spawn(function () {
            Async\delay(1);
            $child = pcntl_fork();
            $child === 0 && exit(5);
            pcntl_waitpid($child, $status);
            echo pcntl_wexitstatus($status), "\n";
        });
        PHP,
];
$locks = is_file(ini_get('extension_dir') . '/sqlite3.so') ? ' -d extension=sqlite3' : '';
foreach (['jemalloc.so.2', 'tcmalloc.so.4', 'mimalloc.so.2'] as $name) {
    if ($found = glob("/usr/lib/*/lib$name")) {
        foreach ($programs as $of => $code) {
            foreach ([0, 1, 2] as $seed) {
                putenv("LD_PRELOAD=$found[0]");
                // Without a configuration: some of PHP's own extensions abort there.
                $ended = T\command(escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . "$locks -d async.seed=$seed -r " . escapeshellarg($code));
                putenv('LD_PRELOAD');
                echo "$of: $ended";
            }
        }
        break;
    }
}
?>
--EXPECT--
calls: [0] Exception a key
calls: [0] Exception a key
calls: [0] Exception a key
server: [0] /Standard input code
server: [0] /Standard input code
server: [0] /Standard input code
fork: [0] 5
fork: [0] 5
fork: [0] 5
