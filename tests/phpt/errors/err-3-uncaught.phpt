--TEST--
ERR-3 an uncaught exception in a coroutine: the others are cancelled and may clean up, then it is reported as PHP does
--FILE--
<?php
use function Async\{await, delay, spawn};

require __DIR__ . '/kit.inc';

register_shutdown_function(function() { echo "\nshutdown function\n"; });
$cleans = spawn(function() {
    try {
        delay(600_000);
        echo "NOT REACHED\n";
    } finally {
        usleep(5000);
        echo 'a blocking cleanup, ', await(spawn(fn() => 'spawning stays possible')), "\n";
    }
});
[$a, $b] = T\pair();
spawn(function() use ($a) { fgets($a); echo "NOT REACHED\n"; });
function fails(int $x) { throw new DomainException('on purpose'); }
spawn(function() use ($cleans) { T\begun($cleans); fails(1); });
try {
    sleep(600);
    echo "NOT REACHED\n";
} finally {
    fwrite($b, 'x'); // still open
    echo "the script is cancelled too\n";
}
echo "NOT REACHED\n";
?>
--EXPECTF--
the script is cancelled too
a blocking cleanup, spawning stays possible

Fatal error: Uncaught DomainException: on purpose in %serr-3-uncaught.php:18
Stack trace:
#0 %serr-3-uncaught.php(19): fails(1)
%A
  thrown in %serr-3-uncaught.php on line 18

shutdown function
