--TEST--
H6 a callback of C code that has waited is called from where that C code was called
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

final class Traces extends php_user_filter
{
    public static array $seen = [];
    public function filter($in, $out, &$consumed, bool $closing): int
    {
        while ($bucket = stream_bucket_make_writeable($in)) {
            self::$seen[rtrim($bucket->data)] = implode(' ', array_column(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), 'function'));
            $consumed += $bucket->datalen;
            stream_bucket_append($out, $bucket);
        }
        return PSFS_PASS_ON;
    }
}
stream_filter_register('traces', Traces::class);
function reads_one($stream) { return fgets($stream); }
function reads_other($stream) { return reads_one($stream); }

[$a, $to_a] = T\pair();
[$b, $to_b] = T\pair();
foreach ([$a, $b] as $stream) stream_filter_append($stream, 'traces', STREAM_FILTER_READ);
$jobs = [spawn(reads_one(...), $a), spawn(reads_other(...), $b)];
T\parked(...$jobs);
foreach (['other' => $to_b, 'one' => $to_a] as $text => $stream) {
    fwrite($stream, "$text\n");
    fclose($stream);
}
echo implode(T\all($jobs));
ksort(Traces::$seen);
print_r(Traces::$seen);
?>
--EXPECT--
one
other
Array
(
    [one] => filter fgets reads_one
    [other] => filter fgets reads_one reads_other
)
