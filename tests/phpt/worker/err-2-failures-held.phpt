--TEST--
ERR-2 in a request of worker mode a failure waits while its coroutine is held; unawaited, it is the request's
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await, delay};

function failed(string $text): Async\Coroutine
{
    $job = spawn(fn() => throw new RuntimeException($text));
    T\until(fn() => $job->isCompleted());
    return $job;
}

$log = S\log_file();
$kept = [];
$server = S\worker(function () use (&$kept) {
    switch ($_GET['how'] ?? '') {
        case 'awaited':
            $job = failed('not seen');
            try { await($job); } catch (RuntimeException $e) { echo 'caught ', $e->getMessage(); }
            break;
        case 'dies':
            $job = failed('dies with the object');
            unset($job);
            delay(600_000);
            break;
        case 'frame':
            $job = failed('dies with the frame');
            echo 'text';
            break;
        case 'thrown':
            $job = failed('dies with the frame, too');
            throw new DomainException('of the handler');
        case 'kept':
            $kept[] = failed('kept until the end');
            break;
        default:
            echo 'fine';
    }
});
foreach (['awaited', 'dies', 'frame', 'thrown', 'kept', ''] as $how) {
    echo "$how: ", S\answer($server, "/?how=$how"), "\n";
}
$server->stop();
echo preg_replace('/^(?!.*Uncaught).*\n/m', '', S\reports($log) . "\n");
?>
--EXPECTF--
awaited: 200 caught not seen
dies: 500 
frame: 500 text
thrown: 500 
kept: 500 
: 200 fine
Fatal error:  Uncaught RuntimeException: dies with the object in %s:7
Fatal error:  Uncaught RuntimeException: dies with the frame in %s:7
Fatal error:  Uncaught RuntimeException: dies with the frame, too in %s:7
Fatal error:  Uncaught DomainException: of the handler in %s:%d
Fatal error:  Uncaught RuntimeException: kept until the end in %s:7
