--TEST--
After a request has ended by its time limit, PHP's limit for the end of a request hits no other one
--INI--
hard_timeout=1
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await};

/** The CPU time of the process, which is what PHP limits. */
function used(): float
{
    $usage = getrusage();
    return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'] + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6;
}

[$begun, $go] = [new Async\Channel(1), new Async\Channel(1)];
$log = S\log_file();
$server = (new Async\Http\Server)->listen('127.0.0.1:0')->worker(function () use ($begun, $go) {
    if ($_GET['n'] === '1') {
        set_time_limit(1);
        while (true);
    }
    $begun->send(true);
    $go->recv();
    for ($end = used() + 1.5; used() < $end;);
    echo 'done';
});
$run = spawn($server->run(...));
$other = spawn(fn() => S\answer($server, '/?n=2'));
$begun->recv();
echo S\answer($server, '/?n=1'), "\n";
$go->send(true);
echo await($other), "\n";
try {
    await($run);
} catch (Async\Http\ServerException $e) {
    echo $e->getMessage(), "\n";
}
echo S\reports($log);
?>
--EXPECTF--
500 
200 done
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  Maximum execution time of 1 second exceeded
