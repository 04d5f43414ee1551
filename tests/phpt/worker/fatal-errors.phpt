--TEST--
A fatal error answers with 500 and spares the other requests; then the server ends
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await, delay};

class Kept { function __destruct() { echo "destructed\n"; } }
class Dies { function __destruct() { trigger_error("destructor", E_USER_ERROR); } }
$kept = new Kept;
$log = S\log_file();
foreach (['trigger_error("user", E_USER_ERROR);', 'eval("function strlen() {}");', 'str_repeat("x", PHP_INT_MAX >> 2);',
          'Async\spawn(function () { trigger_error("child", E_USER_ERROR); }); Async\delay(60000);',
          'ob_start(function () { trigger_error("callback", E_USER_ERROR); }); echo "x"; ob_end_flush();',
          'register_shutdown_function(function () { trigger_error("end", E_USER_ERROR); });',
          '(new Fiber(function () { trigger_error("fiber", E_USER_ERROR); }))->start();',
          '$dies = new Dies; Async\spawn(function (Dies $dies) { usleep(1000); }, $dies); unset($dies); Async\delay(20);',
          '$_GET["dies"] = new Dies;',
          'usort($GLOBALS["list"], function () { usleep(1000); trigger_error("sort", E_USER_ERROR); });',
          'ob_start(function () { ob_start(); });'] as $code) {
    $list = [2, 1, 3];
    $server = (new Async\Http\Server)->listen('127.0.0.1:0')->worker(function () use ($code) {
        register_shutdown_function(function () { echo "shutdown {$_GET['n']} "; });
        echo "begun {$_GET['n']} ";
        if ($_GET['n'] === '2') {
            usleep(2000);
            eval($code);
            return;
        }
        usleep(30000);
        echo 'done ';
    });
    $run = spawn($server->run(...));
    $clients = [];
    foreach ([1, 2, 3] as $n) {
        $clients[] = spawn(fn() => S\answer($server, "/?n=$n"));
    }
    foreach ($clients as $client) {
        echo await($client), "\n";
    }
    try {
        await($run);
    } catch (Async\Http\ServerException $e) {
        echo $e->getMessage(), "\n";
    }
    echo S\reports($log);
}
spawn(function () { usleep(1000); echo "coroutines still run\n"; });
?>
--EXPECTF--
200 begun 1 done shutdown 1
500 begun 2 shutdown 2
200 begun 3 done shutdown 3
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  user in %s on line %d begun 1 done shutdown 1
500 begun 2 shutdown 2
200 begun 3 done shutdown 3
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  Cannot redeclare strlen() in %s on line %d begun 1 done shutdown 1
500 shutdown 2
200 begun 3 done shutdown 3
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  Allowed memory size of 134217728 bytes exhausted (tried to allocate %d bytes) in %s on line %d begun 1 done shutdown 1
500 begun 2 shutdown 2
200 begun 3 done shutdown 3
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  child in %s on line %d begun 1 done shutdown 1
500 begun 2 shutdown 2
200 begun 3 done shutdown 3
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  callback in %s on line %d begun 1 done shutdown 1
500 begun 2 shutdown 2
200 begun 3 done shutdown 3
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  end in %s on line %d begun 1 done shutdown 1
500 begun 2 shutdown 2
200 begun 3 done shutdown 3
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  fiber in %s on line %d begun 1 done shutdown 1
500 begun 2 shutdown 2
200 begun 3 done shutdown 3
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  destructor200 begun 1 done shutdown 1
200 begun 2 shutdown 2
200 begun 3 done shutdown 3
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  destructor200 begun 1 done shutdown 1
500 begun 2 shutdown 2
200 begun 3 done shutdown 3
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  sort in %s on line %d begun 1 done shutdown 1
500 
200 begun 3 done shutdown 3
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  ob_start(): Cannot use output buffering in output buffering display handlers in %s on line %dcoroutines still run
destructed
