--TEST--
IO-6 async.block_log: each block is a line of JSON, whatever is reported, and a file that cannot be written disturbs nothing
--FILE--
<?php
require __DIR__ . '/kit.inc';

$folder = sys_get_temp_dir() . '/spindle-block-log-' . getmypid();
mkdir($folder);
$log = "$folder/log";
$script = "$folder/a\"b\\c\n\xff.php";
file_put_contents($script, <<<'PHP'
    <?php
    use function Async\{await, spawn, suspend};
    error_reporting(0);
    ini_set('log_errors', '0');
    function hog(): void
    {
        $start = getrusage()['ru_utime.tv_sec'] * 1e6 + getrusage()['ru_utime.tv_usec'];
        while (getrusage()['ru_utime.tv_sec'] * 1e6 + getrusage()['ru_utime.tv_usec'] < $start + 150_000);
        suspend();
    }
    for ($i = 0; $i < 3; $i++) {
        await(spawn(hog(...)));
    }
    PHP);
$run = fn (string $log) => T\command(T\interpreter('-d async.block_warning_ms=50 -d ' . escapeshellarg("async.block_log=$log")) . " -f '$script'"); // escapeshellarg() drops the byte
$ended = $run($log);
T\check('silent', $ended->output === '' && $ended->status === 0, $ended);
$lines = array_map(fn ($line) => json_decode($line, true), file($log));
T\check('the first line', array_keys($lines[0]) === ['watched_above_ms', 'pid'] && $lines[0]['watched_above_ms'] === 50, $lines);
$blocks = array_slice($lines, 1);
T\check('each block', count($blocks) === 3 && min(array_column($blocks, 'blocked_ms')) >= 50, $lines);
T\check('where', array_unique(array_column($blocks, 'file')) === ["$folder/a\"b\\c\n\u{fffd}.php"] && in_array($blocks[0]['line'], [7, 8], true), $blocks);
T\check('for its owner', (fileperms($log) & 0777) === 0600, fileperms($log));
$ended = $run("$folder/none/log");
T\check('no such folder', $ended->output === '' && $ended->status === 0, $ended);
$ended = $run('/dev/full');
T\check('no room', $ended->output === '' && $ended->status === 0, $ended);
array_map('unlink', glob("$folder/*"));
rmdir($folder);
?>
--EXPECT--
silent: yes
the first line: yes
each block: yes
where: yes
for its owner: yes
no such folder: yes
no room: yes
