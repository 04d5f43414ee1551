<?php
/**
 * Compiles the sources of a corpus (`lib/sources.php`), as they are and with Spindle in front of the compiler, and what
 * they are rewritten to by PHP's compiler alone: µs for a KiB of source. Nothing is read from files, run or kept.
 * It takes the module that `compile.c` is.
 */
require __DIR__ . '/../lib/suite.php';
require __DIR__ . '/../lib/sources.php';

error_reporting(E_ALL & ~E_DEPRECATED); // libraries that are older than this PHP

/** The compiler alone makes of $source->plain what it makes of the text with Spindle's help, line by line. */
function same(Source $source, bool $hasOperators): void
{
    [, $sum] = bench_compile($source->text, $source->name, true);
    [, $plain] = bench_compile($source->plain, $source->name, false);
    check($sum === $plain, "two programs: $source->name");
    check($hasOperators === ($source->text !== $source->plain), "operators or none: $source->name");
    if ($hasOperators) {
        try {
            bench_compile($source->text, $source->name, false);
            check(false, "PHP alone compiles $source->name");
        } catch (ParseError) {
        }
    }
}

bench('µs', static function (int $n, int $number): array {
    $corpus = Corpus::from($number);
    $sources = $corpus->sources();
    if ($sources === []) {
        echo "skipped: the libraries to compile are not installed\n";
        return [];
    }
    $bytes = 0;
    foreach ($sources as $source) {
        same($source, $corpus->hasOperators());
        $bytes += strlen($source->text);
    }
    check($bytes > 100_000, "$bytes bytes of source");
    $ways = array_map(static fn(Source $source): array => [
        'spindle' => static fn(): int => bench_compile($source->text, $source->name, true)[0],
        'plain' => static fn(): int => bench_compile($source->plain, $source->name, false)[0],
    ], $sources);
    return array_map(static fn(float $sum): float => $sum / $bytes * 1.024, sums($n, $ways));
});
