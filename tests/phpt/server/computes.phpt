--TEST--
A handler that computes for ever is cancelled by request_timeout, and ended if it goes on; others are answered
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
use function Async\{spawn, await, protect};

function loop(): never
{
    for (;;);
}

$log = S\log_file();
$server = S\serve(fn(Async\Http\Request $request) => match ($request->path()) {
    '/loop' => loop(),
    '/caught' => (function () {
        try {
            loop();
        } catch (Async\Http\RequestTimeout $timeout) {
            return 'caught ' . $timeout->getMessage();
        }
    })(),
    '/stubborn' => (function () {
        for ($i = 0;; $i++) {
            try {
                loop();
            } catch (Throwable $thrown) {
                error_log(get_class($thrown));
            }
        }
    })(),
    '/protected' => protect(loop(...)),
    '/child' => await(spawn(loop(...))),
    '/stubborn-child' => await(spawn(function () {
        while (true) {
            try {
                loop();
            } catch (Throwable) {
            }
        }
    })),
    '/callback' => implode(array_map(loop(...), [1])),
    '/fiber' => (new Fiber(loop(...)))->start(),
    '/fine' => 'fine',
}, ['request_timeout' => 0.3, 'cancel_grace' => 0.3]);
foreach (['loop', 'caught', 'stubborn', 'protected', 'child', 'stubborn-child', 'callback', 'fiber'] as $path) {
    $answer = S\send($server, S\request('GET', "/$path"));
    echo "$path: ", S\status($answer), ' ', trim(S\body($answer)), ', others are ', S\get($server, '/fine'), "\n", trim(S\reports($log) . "\n");
    echo "\n";
}
$server->stop();
?>
--EXPECT--
loop: 503 503 Service Unavailable, others are fine

caught: 200 caught The response has not begun in time, others are fine

stubborn: 500 500 Internal Server Error, others are fine
Async\Http\RequestTimeout
Fatal error:  Maximum time of a request of 0.3 seconds exceeded
protected: 500 500 Internal Server Error, others are fine
Fatal error:  Maximum time of a request of 0.3 seconds exceeded
child: 503 503 Service Unavailable, others are fine

stubborn-child: 500 500 Internal Server Error, others are fine
Fatal error:  Maximum time of a request of 0.3 seconds exceeded
Warning:  Uncaught Async\AsyncException: The time limit of the coroutine has passed in  on line 0
callback: 503 503 Service Unavailable, others are fine

fiber: 503 503 Service Unavailable, others are fine
