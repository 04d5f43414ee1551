--TEST--
Async\Http: a handler that fails is answered with 500 and spares the others, and so do coroutines it has spawned
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response};
use function Async\{delay, spawn, suspend};

$gate = false;
$server = S\serve(function(Request $r) use (&$gate, &$seen) {
    switch ($r->path()) {
        case '/wait':
            while (!$gate) delay(1);
            return 'waited';
        case '/throw':
            throw new RuntimeException('thrown');
        case '/child':
            spawn(fn() => throw new RuntimeException('of a child'));
            try {
                delay(1_000_000);
            } catch (Async\CancellationException $e) {
                $seen = $e->getMessage();
                throw $e;
            }
            // no break
        case '/later':
            spawn(function() { delay(20); throw new RuntimeException('after the answer'); });
            return 'answered';
        case '/background':
            spawn(function() use (&$seen) { delay(20); $seen = 'background work'; });
            return 'answered';
        default:
            return 'fine';
    }
});
$waiting = spawn(fn() => S\get($server, '/wait'));
T\until(fn() => $server->stats()['running'] === 1);
$log = S\log_file();
$report = function(string $path) use ($server, $log): string {
    $answer = S\send($server, S\request('GET', $path));
    T\until(fn() => $path !== '/later' || filesize($log) > 0 || clearstatcache());
    return rtrim(S\status($answer) . ' ' . S\reports($log));
};
echo $report('/throw'), "\n";
echo $report('/child'), ' (', $seen, ")\n";
echo $report('/later'), "\n";
echo $report('/background'), "\n";
T\until(fn() => $GLOBALS['seen'] === 'background work');
echo S\get($server, '/'), "\n";
$gate = true;
echo Async\await($waiting), "\n";
$server->stop();
?>
--EXPECTF--
500 Warning:  Uncaught RuntimeException: thrown
500 Warning:  Uncaught RuntimeException: of a child (cancelled because its scope has failed with RuntimeException: of a child, thrown at %sfailures.php:16 in coroutine #%d, spawned at %sfailures.php:%d)
200 Warning:  Uncaught RuntimeException: after the answer
200
fine
waited
