--TEST--
CORO-1 a coroutine for which there is no stack fails, however many they are; the others run, and who waits gets the reason
--SKIPIF--
<?php
if (!shell_exec('command -v cc')) die('skip there is no C compiler');
if (file_get_contents('/proc/sys/vm/max_map_count') > 70_000) die('skip there are many more mappings than usual');
?>
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';

// Kernels as there are: one that does not know guards without mappings, one that says yes to everything and does nothing.
T\work_in(['kernel.c' => <<<'C'
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <stddef.h>

    /* PHP wants the calls of an extension to pass by the likes of this. */
    void *dlopen(const char *name, int flags)
    {
        static void *(*next)(const char *, int);
        if (!next) next = (void *(*)(const char *, int)) dlsym(RTLD_NEXT, "dlopen");
        return next(name, flags & ~RTLD_DEEPBIND);
    }

    int madvise(void *start, size_t length, int advice)
    {
        static int (*next)(void *, size_t, int);
        if (!next) next = (int (*)(void *, size_t, int)) dlsym(RTLD_NEXT, "madvise");
        if (advice < 100) return next(start, length, advice);
    #ifdef SAYS_YES
        return 0;
    #else
        errno = EINVAL;
        return -1;
    #endif
    }
    C]);
T\command('cc -O1 -shared -fPIC -o old.so kernel.c');
T\command('cc -O1 -shared -fPIC -DSAYS_YES -o yes.so kernel.c');

$many = <<<'PHP'
    use Async\AsyncException;
    use function Async\{await, delay, spawn};

    $gate = spawn(fn() => delay(100));
    $jobs = [];
    for ($i = 0; $i < MANY; $i++) $jobs[] = spawn(function() use ($gate, $i) { await($gate); return $i; });
    $ran = $failed = [];
    foreach ($jobs as $i => $job) {
        try { $ran[] = await($job) === $i; } catch (AsyncException $e) { $failed[$e->getMessage()] = true; }
    }
    echo count($ran) > 30 && !in_array(false, $ran) && count($ran) < MANY ? "some ran\n" : "ran " . count($ran) . "\n";
    foreach ($failed as $why => $_) echo preg_replace('~\(.*os error \d+\)\)~', '(ERROR)', $why), "\n";
    unset($jobs);
    echo await(spawn(fn() => "there is room again\n"));
    PHP;
$overflow = 'function f($n) { return array_map("f", [$n + 1]); } echo "begin\n"; Async\await(Async\spawn("f", 0));';
$run = function(string $code, string $limits = '', string $options = '') {
    $file = T\work_in(['code.php' => "<?php $code"]) . '/code.php';
    return T\command('sh -c ' . escapeshellarg("$limits exec " . T\interpreter("-d memory_limit=-1 -d log_errors=0 $options") . " $file"));
};
$libraries = getcwd();

echo 'few addresses: ', $run(str_replace('MANY', '20_000', $many), 'ulimit -v 2000000;');
foreach (['old', 'yes'] as $kernel) {
    $preload = "export LD_PRELOAD=\"$libraries/$kernel.so \$LD_PRELOAD\";";
    $ended = $run($overflow, $preload);
    T\check("overflow, $kernel kernel", $ended->status === 255 && $ended->has("begin\n", PHP_VERSION_ID < 80300 ? 'Maximum C stack size' : 'Maximum call stack size'), $ended);
}
echo "few mappings: ", $run(str_replace('MANY', '40_000', $many), $preload, '-d async.stack_size=64K');

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
few addresses: [0] some ran
There is no address space for a further coroutine's stack (ERROR): raise its limit (ulimit -v, vm.overcommit_memory), or set async.stack_size to less
there is room again
overflow, old kernel: yes
overflow, yes kernel: yes
few mappings: [0] some ran
There is no guard for a further coroutine's stack (ERROR): raise vm.max_map_count, or use Linux 6.13, where guards take no mappings
there is room again
[0] all ended, alive 0
unhandled: yes
