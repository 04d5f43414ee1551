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
        for ($end = hrtime(true) + $ms * 1_000_000; hrtime(true) < $end; );
    }
    spawn(fn () => delay(2500));

    PHP;
$on = '-d async.block_warning_ms=50';
$blocked = '~Warning: Coroutine #(\d+) .*? has blocked the event loop for (\d+) ms~';

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
// the four are one line
T\check('a warning', preg_match_all($blocked, $ended->output) === 1 && $ended->has('blocked here 2 times more'), $ended);

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
        for ($i = 0; $i < 20; $i++) {
            hog(100);
            suspend();
        }
    });
    PHP, $on);
preg_match_all('~(?:blocked the event loop|blocked here).*~', $ended->output, $reports);
T\check('once a second', count($reports[0]) >= 2 && count($reports[0]) <= 8, $reports[0]);
// all are counted: each report is of one, but the last, and says how many there were before it
$count = count(preg_grep('~event loop for~', $reports[0]));
foreach ($reports[0] as $report) {
    $count += preg_match('~(once|\d+ times) more since the last report, (\d+) ms in all~', $report, $m) ? max(1, (int) $m[1]) : 0;
}
T\check('counted', $count >= 17 && $count <= 20, [$count, $reports[0]]);

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
