<?php
/**
 * As compile.php, but all that happens the first time a file is included where opcache is on: the file is read, compiled,
 * optimized, and copied into shared memory. µs for a KiB of source, with Spindle in front of the compiler, and what is
 * rewritten as plain PHP without. It takes the module that `compile.c` is.
 */
require __DIR__ . '/../lib/suite.php';
require __DIR__ . '/../lib/sources.php';

error_reporting(E_ALL & ~E_DEPRECATED); // libraries that are older than this PHP

bench('µs', static function (int $n, int $number): array {
    $folder = (is_writable('/dev/shm') ? '/dev/shm' : sys_get_temp_dir()) . '/spindle-bench.' . bin2hex(random_bytes(6));
    mkdir($folder);
    try {
        return measured($folder, Corpus::from($number), $n);
    } finally {
        array_map(unlink(...), glob("$folder/*"));
        rmdir($folder);
    }
});

/** @return array<string, float> */
function measured(string $folder, Corpus $corpus, int $rounds): array
{
    // Files that declare functions can be compiled once only.
    $declares = static fn(Source $s): bool => (bool) preg_match('/^([a-z]+ )*(class|interface|trait|enum) /m', $s->text);
    $sources = array_filter($corpus->sources(), $declares);
    if ($sources === []) {
        echo "skipped: the libraries to compile are not installed\n";
        return [];
    }
    [$bytes, $ways] = [0, []];
    foreach (array_values($sources) as $i => $source) {
        $bytes += strlen($source->text);
        foreach (['spindle' => $source->text, 'plain' => $source->plain] as $side => $text) {
            $file = "$folder/$side-$i.php";
            file_put_contents($file, $text);
            $ways[$i][$side] = static function () use ($file, $side): float {
                bench_bypass($side === 'plain');
                opcache_invalidate($file, true);
                $start = hrtime(true);
                $isCompiled = opcache_compile_file($file);
                $end = hrtime(true);
                check($isCompiled && opcache_is_script_cached($file), "opcache does not keep $file");
                return $end - $start;
            };
        }
    }
    check($bytes > 100_000, "$bytes bytes of source");
    return array_map(static fn(float $sum): float => $sum / $bytes * 1.024, sums($rounds, $ways));
}
