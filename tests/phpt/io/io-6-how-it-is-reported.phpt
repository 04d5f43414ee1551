--TEST--
IO-6 the report is a warning past the program's own handling: no handler, @, error mode or error_get_last() knows of it; one line once a second
--EXTENSIONS--
spl
--FILE--
<?php
require __DIR__ . '/kit.inc';

$hog = <<<'PHP'
    use function Async\{await, delay, spawn, suspend};
    function hog(int $ms = 150): void
    {
        for ($end = cpu() + $ms; cpu() < $end; ); // line 5
    }
    // the processor's time: that in which the process stands still does not count
    function cpu(): float
    {
        $used = getrusage();
        return $used['ru_utime.tv_sec'] * 1e3 + $used['ru_utime.tv_usec'] / 1e3 + $used['ru_stime.tv_sec'] * 1e3 + $used['ru_stime.tv_usec'] / 1e3;
    }
    spawn(fn () => delay(2500));

    PHP;
$on = '-d async.block_warning_ms=50';
$blocked = '~Warning: Coroutine #(\d+) .*? has blocked the event loop for (\d+) ms~';
/** How often something was reported to block: each report is of one, but the last, and says how many there were before it. */
function counted(string $output): int
{
    preg_match_all('~blocked the event loop for (?!.*blocked here)|(once|\d+ times) more since the last report, (\d+) ms in all~', $output, $m);
    return array_sum(array_map(fn ($more) => max(1, (int) $more), $m[1]));
}

$ended = T\php($hog . <<<'PHP'
    set_error_handler(function (int $level, string $message) { throw new ErrorException("handler: $message"); });
    spawn(function () { hog(); suspend(); echo "not thrown\n"; });
    spawn(function () { @hog(); @suspend(); echo "not silenced\n"; });
    spawn(function () {
        set_error_handler(null);
        @trigger_error('mine');
        hog();
        suspend();
        echo error_get_last()['message'] ?? 'forgotten', "\n";
    });
    PHP, $on);
T\check('no handler', $ended->has("not thrown\n", "not silenced\n", "mine\n") && !$ended->has('handler:') && $ended->status === 0, $ended);
// the three are one line, if they come within a second
$lines = preg_match_all($blocked, $ended->output);
T\check('a warning', $lines >= 1 && counted($ended->output) >= 3 && ($lines > 1 || $ended->has('blocked here 2 times more')), $ended);

$ended = T\php($hog . <<<'PHP'
    function handled(string $name): void
    {
        posix_mkfifo($fifo = sys_get_temp_dir() . '/' . uniqid('fifo'), 0600);
        spawn(function () use ($fifo) { delay(50); file_put_contents($fifo, 'x'); unlink($fifo); });
        hog();
        echo (new SplFileObject($fifo))->fgets(), "\n"; // its constructor turns warnings into exceptions
    }
    spawn(handled(...), 'a');
    PHP, $on);
T\check('error mode', $ended->has("x\n") && !$ended->has('Uncaught') && $ended->status === 0, $ended);

$ended = T\php($hog . 'error_reporting(E_ALL & ~E_WARNING); spawn("hog");', $on);
T\check('error_reporting', $ended->output === '' && $ended->status === 0, $ended);

$ended = T\php($hog . <<<'PHP'
    spawn(function () {
        $start = hrtime(true);
        for ($i = 0; $i < 20; $i++) {
            hog(100);
            suspend();
        }
        echo "\n", (int) ((hrtime(true) - $start) / 1e9), " seconds\n";
    });
    PHP, $on);
preg_match_all('~(?:blocked the event loop|blocked here).*~', $ended->output, $reports);
$seconds = (int) preg_replace('~.*?(\d+) seconds\n.*~s', '$1', $ended->output);
T\check('once a second', count($reports[0]) >= 2 && count($reports[0]) <= $seconds + 6, [$seconds, $reports[0]]);
T\check('counted', counted($ended->output) >= 17, [counted($ended->output), $reports[0]]);

$ended = T\php($hog . 'spawn("hog"); spawn(function () { try { hog(); } finally { exit(3); } });', $on);
T\check('before exit', preg_match_all($blocked, $ended->output) >= 1 && $ended->status === 3, $ended);
foreach (['-5', '10x', '""', '99999999999'] as $value) {
    $ended = T\php('echo "runs\n";', "-d async.block_warning_ms=$value");
    T\check($value, $ended->has("runs\n") && ($value === '""' || $ended->has('async.block_warning_ms')), $ended);
}
?>
--EXPECT--
no handler: yes
a warning: yes
error mode: yes
error_reporting: yes
once a second: yes
counted: yes
before exit: yes
-5: yes
10x: yes
"": yes
99999999999: yes
