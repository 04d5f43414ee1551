--TEST--
After a fatal error others have fatal_grace, and who supervises the server is told at once
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await};

$log = S\log_file();
[$begun, $told] = [new Async\Channel(1), new Async\Channel(4)];
$server = (new Async\Http\Server(['fatal_grace' => 0.05]))->listen('127.0.0.1:0')->worker(function () use ($begun) {
    if ($_SERVER['REQUEST_URI'] !== '/endless') {
        trigger_error('dies', E_USER_ERROR);
    }
    try {
        $begun->send(true);
        Async\delay(1_000_000);
    } catch (Async\Http\ServerStopped $stopped) {
        echo $stopped->getMessage();
        throw $stopped;
    }
}, fn() => $told->send('told'));
$run = spawn($server->run(...));
$endless = spawn(fn() => S\answer($server, '/endless'));
$begun->recv();
echo S\answer($server, '/'), "\n";
echo $told->recv(), ' while ', $endless->isCompleted() ? 'none runs' : 'another one runs', "\n";
echo await($endless), "\n";
try {
    await($run);
} catch (Async\Http\ServerException $e) {
    echo $e->getMessage(), "\n";
}
var_dump(count($told));

$server = (new Async\Http\Server)->worker(fn() => 1, fn() => 1);
foreach ([fn() => $server->worker(fn() => 1, null), fn() => $server->worker(fn() => 1, 'none')] as $call) {
    try {
        $call();
        echo "fine\n";
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
500 
told while another one runs
503 503 Service Unavailable
A request has ended with a fatal error, and the others are answered: start the process again
int(0)
fine
Async\Http\Server::worker(): Argument #2 ($onFatalError) must be a valid callback, function "none" not found or invalid function name
