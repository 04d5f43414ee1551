--TEST--
PHP's time limit is the request's that has set it: it counts what that computes, ends that alone, and nothing is left of it
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await};

/** The processor time in seconds. */
function used(): float
{
    $usage = getrusage();
    return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'] + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6;
}

/** Computes for so many seconds of processor time. */
function compute(float $seconds): void
{
    for ($end = used() + $seconds; used() < $end;);
}

$rounds = 50_000;
$before = used();
hash_pbkdf2('sha256', 'password', 'salt', $rounds);
$rounds = (int) ($rounds * 1.2 / (used() - $before));
set_time_limit(2);
$log = S\log_file();
[$begun, $go] = [new Async\Channel(1), new Async\Channel(1)];
$server = S\worker(function () use ($begun, $go) {
    switch ($_SERVER['REQUEST_URI']) {
        case '/sets':
            set_time_limit(1);
            $begun->send(true);
            $go->recv();
            // What others have computed meanwhile does not count.
            compute(0.3);
            echo ini_get('max_execution_time'), ' set';
            return;
        case '/call':
            // In one call, in which PHP code is not looked at.
            hash_pbkdf2('sha256', 'password', 'salt', $GLOBALS['rounds']);
            echo 'called';
            return;
        case '/computes':
            compute(1.2);
            echo ini_get('max_execution_time'), ' computed';
            return;
        case '/usual':
            for (;;);
        case '/exceeds':
            register_shutdown_function(function () { echo ' shutdown: ', error_get_last()['message']; });
            echo 'begun';
            set_time_limit(1);
            try {
                for (;;);
            } catch (Throwable $never) {
                echo 'caught';
            } finally {
                echo 'finally';
            }
        case '/child':
            set_time_limit(1);
            await(spawn(function () { for (;;); }));
        case '/off':
            set_time_limit(1);
            ini_set('max_execution_time', 0);
            compute(1.2);
            echo 'no limit';
    }
}, ['request_timeout' => 0]);
$sets = spawn(fn() => S\answer($server, '/sets'));
$begun->recv();
echo S\answer($server, '/computes'), "\n";
echo S\answer($server, '/call'), "\n";
$go->send(true);
echo await($sets), "\n";
echo S\answer($server, '/exceeds'), "\n", S\reports($log), "\n";
echo S\answer($server, '/child'), "\n", S\reports($log), "\n";
echo S\answer($server, '/usual'), "\n", S\reports($log), "\n";
echo S\answer($server, '/off'), "\n";
$server->stop();
?>
--EXPECT--
200 2 computed
200 called
200 1 set
500 begun shutdown: Maximum execution time of 1 second exceeded
Fatal error:  Maximum execution time of 1 second exceeded
500 
Fatal error:  Maximum execution time of 1 second exceeded
500 
Fatal error:  Maximum execution time of 2 seconds exceeded
200 no limit
