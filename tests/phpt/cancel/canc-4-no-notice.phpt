--TEST--
CANC-4 a cancelled read says nothing of its failure, as under @; error_reporting() is as before afterwards, and other notices come
--FILE--
<?php
use function Async\{await, delay, spawn};

$read = function ($stream) {
    try {
        fgets($stream);
    } catch (Async\CancellationException $e) {
        echo 'cancelled, error_reporting is ', error_reporting() === E_ALL ? 'whole' : error_reporting(), "\n";
        echo $none; // a warning, after it
        fread(fopen(__DIR__, 'r'), 5); // and a notice
    }
};
foreach ([false, true] as $handled) {
    if ($handled) {
        set_error_handler(function (int $level, string $text) {
            echo error_reporting() & $level ? "handler: $text\n" : "handler, silenced: " . preg_replace('/ of .*/', '', $text) . "\n";
            return true;
        });
    }
    $process = proc_open(['sleep', '10'], [1 => ['pipe', 'w']], $pipes);
    $reader = spawn($read, $pipes[1]);
    while (!$reader->getAwaitingInfo()) { // until it waits, in whatever order
        delay(1);
    }
    $reader->cancel();
    await($reader);
    proc_terminate($process);
    fclose($pipes[1]);
    proc_close($process);
}
?>
--EXPECTF--
cancelled, error_reporting is whole

Warning: Undefined variable $none in %s on line %d

Notice: fread(): Read of %d bytes failed with errno=21 Is a directory in %s on line %d
handler, silenced: fgets(): Read
cancelled, error_reporting is whole
handler: Undefined variable $none
handler: fread(): Read of %d bytes failed with errno=21 Is a directory
