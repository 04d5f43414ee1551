--TEST--
H7 a signal's handler runs although the one who runs next is being ended by an exception of its own
--EXTENSIONS--
pcntl
posix
simplexml
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
T\work_in();
posix_mkfifo('fifo', 0600);

pcntl_async_signals(true);
$seen = 0;
pcntl_signal(SIGUSR1, function() use (&$seen) { $seen++; });
pcntl_signal(SIGUSR2, fn() => throw new DomainException('of the handler'));

/**
 * The signal comes while all are parked in calls that it does not interrupt; then one of them ends with an exception,
 * before anybody else runs.
 */
function hit(string $signal, Closure $reader): Async\Coroutine
{
    $coroutine = spawn($reader);
    shell_exec("(exec 3>fifo; kill -$signal " . getmypid() . '; sleep 0.05); sleep 0.3');
    return $coroutine;
}

$reader = fn() => new SimpleXMLElement('fifo', LIBXML_NOERROR, true);
echo get_class(T\failure(hit('USR1', $reader))), " $seen\n";

$e = T\failure(hit('USR2', $reader));
echo get_class($e), ' < ', get_class($e->getPrevious()), "\n";

$caught = function() use ($reader): string {
    try {
        return $reader();
    } catch (Exception) {
        return 'caught';
    }
};
echo await(hit('USR1', $caught)), " $seen\n";

pcntl_signal(SIGUSR2, function() { echo "exits\n"; exit; });
hit('USR2', $reader);
echo "NOT REACHED\n";
?>
--EXPECT--
Exception 1
DomainException < Exception
caught 2
exits
