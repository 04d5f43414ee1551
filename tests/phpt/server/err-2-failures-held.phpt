--TEST--
ERR-2 in a request a failure waits while its coroutine is held; unawaited, it is one of the request at the latest when the handler has ended
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\{Scope};
use Async\Http\{Request, Response};
use function Async\{await, currentScope, delay, spawn, suspend};

function fails(string $text): never { throw new RuntimeException($text); }
/** Failed, and held. */
function failed(string $text): Async\Coroutine
{
    $job = spawn(fn() => fails($text));
    T\until(fn() => $job->isCompleted());
    return $job;
}

$kept = [];
$server = S\serve(function(Request $r) use (&$kept) {
    switch ($r->path()) {
        case '/awaited':
            $job = failed('not seen');
            try { await($job); } catch (RuntimeException $e) { return 'caught ' . $e->getMessage(); }
            // no break
        case '/nested': // those that a coroutine of the request spawns are in its scope, too
            return await(spawn(function() {
                $job = failed('not seen');
                try { await($job); } catch (RuntimeException $e) { return 'caught ' . $e->getMessage(); }
            }));
        case '/dies':
            $job = failed('dies with the object');
            unset($job);
            delay(600_000);
            // no break
        case '/frame':
            $job = failed('dies with the frame');
            return 'fine';
        case '/thrown': // both are reported
            $job = failed('dies with the frame');
            throw new DomainException('of the handler');
        case '/kept':
            $kept[] = failed('kept until the end');
            return 'fine';
        case '/late':
            $kept[] = spawn(function() { delay(20); fails('after the answer'); });
            return 'fine';
        case '/handler':
            currentScope()->setExceptionHandler(function($scope, $coroutine, $e) { T\turns(3); echo 'handled: ', $e->getMessage(), ' ', $coroutine->getException() === $e ? 'its own' : 'not its own', "\n"; });
            $job = failed('of an object that has died');
            unset($job);
            T\turns(10);
            return 'fine';
        case '/stream':
            return new Response(function($writer) {
                $writer->write('a');
                $job = failed('not seen');
                try { await($job); } catch (RuntimeException $e) { $writer->write(' b'); }
            });
        case '/stream-dies':
            return new Response(function($writer) {
                $writer->write('a');
                $job = failed('while it streams');
            });
        case '/by-hand':
            $scope = new Scope;
            $job = $scope->spawn(fn() => fails('held, and made by hand'));
            $scope->setExceptionHandler(fn($e) => print('at once: ' . $e->getMessage() . "\n"));
            T\turns(5);
            return 'fine';
        default:
            return 'fine';
    }
});
$log = S\log_file();
foreach (['awaited', 'nested', 'dies', 'frame', 'thrown', 'kept', 'late', 'handler', 'stream', 'stream-dies', 'by-hand', ''] as $path) {
    $answer = S\send($server, S\request('GET', "/$path"));
    T\until(fn() => $path !== 'late' || filesize($log) > 0 || clearstatcache());
    echo "$path: ", S\status($answer), ' ', preg_match('/fine|caught.*/', $answer, $found) ? $found[0] : '', ' ', S\reports($log), "\n";
}
$kept = [];
$server->stop();
echo S\reports($log);
?>
--EXPECT--
awaited: 200 caught not seen 
nested: 200 caught not seen 
dies: 500  Warning:  Uncaught RuntimeException: dies with the object
frame: 500  Warning:  Uncaught RuntimeException: dies with the frame
thrown: 500  Warning:  Uncaught DomainException: of the handler
Warning:  Uncaught RuntimeException: dies with the frame
kept: 500  Warning:  Uncaught RuntimeException: kept until the end
late: 200 fine Warning:  Uncaught RuntimeException: after the answer
handled: of an object that has died its own
handler: 200 fine 
stream: 200  
stream-dies: 200  Warning:  Uncaught RuntimeException: while it streams
at once: held, and made by hand
by-hand: 200 fine 
: 200 fine 
