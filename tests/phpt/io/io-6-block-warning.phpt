--TEST--
IO-6 what keeps the loop from running longer than async.block_warning_ms is reported with the coroutine and its line
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    function hog(): void
    {
        $cpu = fn() => getrusage()['ru_utime.tv_sec'] * 1000 + getrusage()['ru_utime.tv_usec'] / 1000;
        for ($end = $cpu() + MS; $cpu() < $end; );
    }
    for ($i = 0; $i < 50; $i++) Async\spawn(fn() => null);
    Async\spawn(fn() => Async\delay(400));
    $c = Async\spawn('hog');
    echo 'id ', $c->getId(), "\n";
    Async\await($c);
    Async\await(Async\spawn(fn() => usleep(200_000))); // waits, blocks nobody
    echo "done\n";
    PHP;
$ended = T\php(str_replace('MS', '250', $code), '-d async.block_warning_ms=60');
preg_match('/^id (\d+)$/m', $ended->output, $m);
$report = preg_replace('/^(id \d+|done)$/m', '', $ended->output);
T\check('the coroutine', preg_match("/\b$m[1]\b/", $report), $ended);
T\check('the line', preg_match('/(:|line )[4-7]\b/', $report), $ended);
T\check('goes on', $ended->has("done\n") && $ended->status === 0, $ended);
$ended = T\php(str_replace('MS', '250', $code), '-d async.block_warning_ms=0');
T\check('off', preg_match('/^id \d+\ndone\n$/', $ended->output), $ended);
$ended = T\php(str_replace('MS', '1', $code), '-d async.block_warning_ms=5000');
T\check('nothing to report', preg_match('/^id \d+\ndone\n$/', $ended->output), $ended);
?>
--EXPECT--
the coroutine: yes
the line: yes
goes on: yes
off: yes
nothing to report: yes
