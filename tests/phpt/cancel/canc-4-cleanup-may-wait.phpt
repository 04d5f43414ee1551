--TEST--
CANC-4 finally blocks and destructors of a cancelled coroutine wait and block as they like
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Connection
{
    public function __destruct() { usleep(10_000); echo "connection closed\n"; }
}
[$a, $b] = T\pair();
$c = spawn(function() use ($a) {
    $connection = new Connection;
    try {
        try {
            sleep(600);
        } finally {
            T\turns(5);
            suspend();
            echo 'the other side says: ', fgets($a);
            echo 'a child says: ', await(spawn(fn() => 'hello')), "\n";
            echo shell_exec('echo the shell says: hello');
        }
    } finally {
        usleep(1000);
        echo "outer\n";
    }
});
T\parked($c);
$c->cancel();
T\turns(20);
fwrite($b, "goodbye\n");
echo get_class(T\failure($c)), "\n";
?>
--EXPECT--
the other side says: goodbye
a child says: hello
the shell says: hello
outer
connection closed
Async\CancellationException
