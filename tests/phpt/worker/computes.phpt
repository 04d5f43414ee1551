--TEST--
A request in worker mode that computes for ever is cancelled by request_timeout, and ended if it goes on, also after its response has begun
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await};

function loop(): never
{
    for (;;);
}

$log = S\log_file();
$server = S\worker(function () {
    register_shutdown_function(function () { error_log('shutdown'); });
    switch ($_SERVER['REQUEST_URI']) {
        case '/loop':
            loop();
        case '/stubborn':
            while (true) {
                try {
                    loop();
                } catch (Throwable $thrown) {
                    error_log(get_class($thrown));
                }
            }
        case '/child':
            await(spawn(loop(...)));
        case '/begun':
            echo 'begun';
            ob_flush();
            flush();
            loop();
        case '/finished':
            echo 'finished';
            Async\Http\finish();
            loop();
        case '/shutdown':
            register_shutdown_function(loop(...));
        case '/fine':
            echo 'fine';
    }
}, ['request_timeout' => 0.3, 'cancel_grace' => 0.3]);
foreach (['loop', 'stubborn', 'child', 'begun', 'finished', 'shutdown'] as $path) {
    echo "$path: ", S\answer($server, "/$path"), ', others are ', S\answer($server, '/fine'), "\n", S\reports($log), "\n";
}
$server->stop();
?>
--EXPECTF--
loop: 503 503 Service Unavailable, others are 200 fine
shutdown
shutdown
stubborn: 500 , others are 200 fine
Async\Http\RequestTimeout
Fatal error:  Maximum time of a request of 0.3 seconds exceeded
shutdown
shutdown
child: 503 503 Service Unavailable, others are 200 fine
shutdown
shutdown
begun: 200 begun (incomplete), others are 200 fine
shutdown
shutdown
finished: 200 finished, others are 200 fine
shutdown
shutdown
shutdown: 500 fine, others are 200 fine
shutdown
Fatal error:  Uncaught Async\TimeoutException: %a

Next Async\Http\RequestTimeout: %a
shutdown
