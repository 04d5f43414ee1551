--TEST--
IO-5 a fork in a coroutine: the child has this one coroutine, its own reactor, and may spawn, wait and exit; the parent goes on
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, getCoroutines, spawn};

require __DIR__ . '/kit.inc';
T\work_in(['log' => '']);
$say = fn(string $text) => file_put_contents('log', "$text\n", FILE_APPEND);

final class Resource_
{
    public function __construct(private string $name, private Closure $say) {}
    public function __destruct() { ($this->say)("$this->name destroyed by " . (getmypid() === MAIN ? 'the parent' : 'THE CHILD')); }
}
define('MAIN', getmypid());

[$a, $b] = T\pair();
$others = [
    spawn(function() use ($say) { $r = new Resource_('sleeper', $say); try { T\turns(300); } finally { $say('sleeper finally by ' . (getmypid() === MAIN ? 'the parent' : 'THE CHILD')); } }),
    spawn(function() use ($a, $say) { $r = new Resource_('reader', $say); $say('reader got ' . fgets($a)); }),
    spawn(fn() => shell_exec('sleep 0.2; printf shell')),
];
$forking = spawn(function() use ($say) {
    T\turns(20);
    $pid = pcntl_fork();
    if ($pid === 0) {
        $say('child has ' . count(getCoroutines()) . ' coroutine');
        T\turns(10);
        usleep(10_000);
        [$c, $d] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $read = spawn(fn() => fgets($c));
        spawn(function() use ($d) { usleep(5000); fwrite($d, 'x'); fclose($d); });
        $say('child read ' . await($read) . ', ran ' . shell_exec('printf sh') . ', slept till the others would have woken');
        usleep(400_000);
        exit(7);
    }
    pcntl_waitpid($pid, $status);
    return pcntl_wexitstatus($status);
});
T\turns(60);
fwrite($b, "a line");
fclose($b);
$results = T\all([...$others, $forking]);
echo json_encode($results), "\n";
$lines = file('log', FILE_IGNORE_NEW_LINES);
sort($lines);
echo implode("\n", $lines), "\n";
?>
--EXPECT--
[null,null,"shell",7]
child has 1 coroutine
child read x, ran sh, slept till the others would have woken
reader destroyed by the parent
reader got a line
sleeper destroyed by the parent
sleeper finally by the parent
