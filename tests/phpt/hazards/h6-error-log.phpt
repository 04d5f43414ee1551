--TEST--
H6 while one coroutine waits for the error log, what others log is not taken for an error of logging
--EXTENSIONS--
posix
--INI--
log_errors=1
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
T\work_in();
posix_mkfifo('log', 0600);
ini_set('error_log', getcwd() . '/log');

$jobs = [spawn(fn() => error_log('one')), spawn(fn() => error_log('two'))];
T\begun(...$jobs);
T\check('both wait', !$jobs[0]->isCompleted() && !$jobs[1]->isCompleted());
$log = fopen('log', 'r');
T\all($jobs);
$lines = explode("\n", trim(stream_get_contents($log)));
$texts = array_map(fn($line) => substr($line, strpos($line, '] ') + 2), $lines);
sort($texts);
echo implode(' ', $texts), "\n";
?>
--EXPECT--
both wait: yes
one two
