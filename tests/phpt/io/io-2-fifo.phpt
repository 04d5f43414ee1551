--TEST--
IO-2 opening a FIFO waits for the other end, which may be a coroutine of the same process
--EXTENSIONS--
posix
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in();
posix_mkfifo('one', 0600);
posix_mkfifo('two', 0600);

$ticks = new T\Ticks;
$jobs = [
    'reader' => spawn(function() { $f = fopen('one', 'r'); $line = fgets($f); fclose($f); return $line; }),
    'asker' => spawn(function() { file_put_contents('two', 'a question'); return 'asked'; }),
];
T\parked(...$jobs);
T\check('both wait', $jobs['reader']->isSuspended() && $jobs['asker']->isSuspended());
T\check('ticking', $ticks->more());
$jobs['writer'] = spawn(function() { $f = fopen('one', 'w'); usleep(5000); return fwrite($f, "a line\n"); });
$jobs['answerer'] = spawn(fn() => file_get_contents('two'));
foreach (T\all($jobs) as $name => $result) echo "$name: ", json_encode($result), "\n";
$ticks->stop();
?>
--EXPECT--
both wait: yes
ticking: yes
reader: "a line\n"
asker: "asked"
writer: 7
answerer: "a question"
