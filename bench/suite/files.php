<?php
/**
 * 1,000 cached files of 2 KiB by `file_get_contents`: ms for all of them, the median of $n passes.
 * $each 0: one coroutine reads them all; 1: a coroutine for each file.
 */
require __DIR__ . '/../lib/suite.php';

const FILES = 1000;
const SIZE = 2048;

/** Writes the files, runs $pass (names → bytes read) $n times, removes the files. */
function passes(int $n, Closure $pass): float
{
    $dir = sys_get_temp_dir() . '/spindle-bench-files-' . getmypid();
    check(mkdir($dir, 0700), "mkdir $dir");
    $names = [];
    register_shutdown_function(static function () use ($dir, &$names): void {
        array_map('unlink', $names);
        rmdir($dir);
    });
    for ($i = 0; $i < FILES; $i++) {
        file_put_contents($names[] = "$dir/$i", str_repeat('x', SIZE));
    }
    $times = [];
    for ($i = 0; $i <= $n; $i++) {
        $start = now();
        $bytes = $pass($names);
        $times[] = now() - $start;
        check($bytes === FILES * SIZE, "$bytes bytes read");
    }
    array_shift($times); // the first one warms the cache
    sort($times);
    return $times[intdiv($n, 2)] / 1e6;
}

function readAll(array $names): int
{
    $bytes = 0;
    foreach ($names as $name) {
        $bytes += strlen(file_get_contents($name));
    }
    return $bytes;
}

bench('ms',
    spindle: static fn(int $n, int $each = 0): float => passes($n, $each
        ? static function (array $names): int {
            $all = [];
            foreach ($names as $name) {
                $all[] = Async\spawn('file_get_contents', $name);
            }
            $bytes = 0;
            foreach ($all as $coroutine) {
                $bytes += strlen(Async\await($coroutine));
            }
            return $bytes;
        }
        : static fn(array $names): int => Async\await(Async\spawn('readAll', $names))),
    plain: static fn(int $n, int $each = 0): float => passes($n, 'readAll'(...)),
);
