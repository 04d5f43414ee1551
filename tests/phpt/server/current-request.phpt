--TEST--
Async\Http\currentRequest() is the request in whose scope the calling coroutine is
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';

use Async\Scope;
use function Async\{await, currentScope, delay, globalScope, spawn};
use function Async\Http\currentRequest;

$path = fn() => currentRequest()?->path() ?? 'none';
$later = new Async\Channel(2);
$server = S\serve(function (Async\Http\Request $r) use ($path, $later) {
    $seen = [currentRequest() === $r ? 'the same' : 'another', $path()];
    delay(random_int(0, 3)); // others run
    $r->set('user', $r->path());
    $seen[] = await(spawn(function () use ($path) {
        delay(random_int(0, 3));
        return $path() . ' for ' . currentRequest()->get('user') . await(spawn(fn() => " and {$path()}"));
    }));
    $inner = Scope::inherit();
    $seen[] = 'inner ' . await($inner->spawn($path));
    $seen[] = 'outer ' . await(globalScope()->spawn($path));
    $seen[] = 'fiber ' . (function () use ($path) { $f = new Fiber($path); $f->start(); return $f->getReturn(); })();
    if ($r->path() === '/0') {
        spawn(fn() => [delay(10), $later->send("later {$path()}")]);
    }
    if ($r->path() === '/1') {
        throw new RuntimeException('fails');
    }
    return implode(', ', $seen);
});
$clients = array_map(fn($i) => spawn(S\get(...), $server, "/$i"), range(0, 20));
$answers = array_map(fn($client) => await($client), $clients);
echo $answers[0], "\n", trim($answers[1]), "\n";
foreach ($answers as $i => $answer) {
    $i === 1 || $answer === str_replace('/0', "/$i", $answers[0]) || print("$answer\n");
}
echo $later->recv(), "\n", $path(), ' ', await(spawn($path)), "\n";
$server->stop();

// What is no request is none.
currentScope()->set("\0Async\\Http\\Request", new stdClass());
var_dump(currentRequest());

$server = (new Async\Http\Server())->listen('127.0.0.1:0')->worker(fn() => var_dump(currentRequest()));
spawn($server->run(...));
echo S\get($server, '/');
$server->stop();
?>
--EXPECTF--

Warning: Uncaught RuntimeException: fails in %scurrent-request.php on line 26
the same, /0, /0 for /0 and /0, inner /0, outer none, fiber /0
500 Internal Server Error
later /0
none none
NULL
NULL
