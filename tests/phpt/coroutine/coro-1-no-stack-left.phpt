--TEST--
CORO-1 a coroutine for whose stack there is no guard fails; others run, who waits gets the reason; guards of kernels that cannot make them
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
require __DIR__ . '/no-stack-left.inc';

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

$overflow = 'function f($n) { return array_map("f", [$n + 1]); } echo "begin\n"; Async\await(Async\spawn("f", 0));';
$libraries = getcwd();

foreach (['old', 'yes'] as $kernel) {
    $preload = "export LD_PRELOAD=\"$libraries/$kernel.so \$LD_PRELOAD\";";
    $ended = $run($overflow, $preload);
    T\check("overflow, $kernel kernel", $ended->status === 255 && $ended->has("begin\n", PHP_VERSION_ID < 80300 ? 'Maximum C stack size' : 'Maximum call stack size'), $ended);
}
echo "few mappings: ", $run($many(40_000), $preload, '-d async.stack_size=64K');
?>
--EXPECT--
overflow, old kernel: yes
overflow, yes kernel: yes
few mappings: [0] some ran
There is no guard for a further coroutine's stack (ERROR): raise vm.max_map_count, or use Linux 6.13, where guards take no mappings
there is room again
