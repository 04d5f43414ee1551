--TEST--
A fatal error in an autoloader of one request: others that need the class load it, and so does the request's end
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await};

[$entered, $go, $begun, $later] = [new Async\Channel(1), new Async\Channel(1), new Async\Channel(2), new Async\Channel(1)];
$loads = 0;
spl_autoload_register(function (string $class) use ($entered, $go, &$loads) {
    if (++$loads === 1) {
        $entered->send(true);
        $go->recv();
        trigger_error('in the autoloader', E_USER_ERROR);
    }
    eval("class $class {}");
});
$log = S\log_file();
$server = (new Async\Http\Server)->listen('127.0.0.1:0')->worker(function () use ($begun, $later) {
    if ($_GET['n'] === '1') {
        register_shutdown_function(function () { echo 'at its end: ', get_class(new Wanted); });
    } else {
        $begun->send(true);
    }
    $_GET['n'] === '3' && $later->recv();
    echo get_class(new Wanted);
});
$run = spawn($server->run(...));
$answer = fn(int $n) => spawn(fn() => S\answer($server, "/?n=$n"));
$first = $answer(1);
$entered->recv();
[$second, $third] = [$answer(2), $answer(3)];
$begun->recv();
$begun->recv(); // the second one waits for the class
$go->send(true);
echo await($first), "\n", await($second), "\n";
$later->send(true);
echo await($third), "\n";
try {
    await($run);
} catch (Async\Http\ServerException $e) {
    echo $e->getMessage(), "\n";
}
echo S\reports($log);
?>
--EXPECTF--
500 at its end: Wanted
200 Wanted
200 Wanted
A request has ended with a fatal error, and the others are answered: start the process again
Fatal error:  in the autoloader
