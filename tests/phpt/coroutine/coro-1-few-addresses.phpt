--TEST--
CORO-1 a coroutine for whose stack there is no address space fails, in a scope, too; others run, and who waits gets the reason
--SKIPIF--
<?php
// qemu accepts such a limit and sets none.
if (trim(shell_exec('ulimit -v 2000000; ulimit -v')) !== '2000000') die('skip an emulator sets no limit of addresses');
?>
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
require __DIR__ . '/no-stack-left.inc';

echo $run($many(20_000), 'ulimit -v 2000000;');

// a scope's handler gets the failures, and destructors run, though both take stacks
echo $run(<<<'PHP'
    use function Async\{await, delay, spawn};

    class Held { static int $alive = 0; function __construct() { self::$alive++; } function __destruct() { self::$alive--; Async\suspend(); } }
    $scope = new Async\Scope;
    $told = 0;
    $scope->setExceptionHandler(function($scope, $coroutine, $e) use (&$told) { $told++; });
    $gate = spawn(fn() => delay(100));
    $ran = 0;
    for ($i = 0; $i < 3000; $i++) $scope->spawn(function(Held $held) use ($gate, &$ran) { await($gate); $ran++; }, new Held);
    $scope->awaitCompletion(Async\timeout(60_000));
    echo $ran > 30 && $told > 30 && $ran + $told === 3000 ? "all ended" : "ran $ran told $told", ', alive ', Held::$alive, "\n";
    PHP, 'ulimit -v 2000000;');

// nobody awaits: as any failure
$ended = $run(<<<'PHP'
    use function Async\{await, delay, spawn};

    register_shutdown_function(function() { echo "shutdown functions run\n"; });
    $gate = spawn(function() { try { delay(600_000); } finally { echo "cancelled\n"; } });
    for ($i = 0; $i < 3000; $i++) spawn(fn() => await($gate));
    await($gate);
    PHP, 'ulimit -v 2000000;');
T\check('unhandled', $ended->status === 255 && $ended->has('Uncaught Async\AsyncException', "cancelled\n", "shutdown functions run\n"), substr($ended, 0, 600));
?>
--EXPECT--
[0] some ran
There is no address space for a further coroutine's stack (ERROR): raise its limit (ulimit -v, vm.overcommit_memory), or set async.stack_size to less
there is room again
[0] all ended, alive 0
unhandled: yes
