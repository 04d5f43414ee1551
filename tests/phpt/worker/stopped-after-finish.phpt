--TEST--
A server that is stopped ends with its last request, also if that has completed its response and lost its connection before
--EXTENSIONS--
spindle
--FILE--
<?php
use function Async\{await, spawn, suspend};

$goes = new Async\Channel();
$server = (new Async\Http\Server())->listen('127.0.0.1:0')->worker(function () use ($goes): void {
    echo "answered\n";
    Async\Http\finish();
    $goes->recv();
});
$run = spawn($server->run(...));
echo file_get_contents("http://{$server->address()}/");
$server->stop();
while ($server->stats()['connections'] > 0) {
    suspend();
}
suspend();
$goes->send(true);
await($run);
echo "ended\n";
?>
--EXPECT--
answered
ended
