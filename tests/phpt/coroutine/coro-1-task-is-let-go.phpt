--TEST--
CORO-1 the closure, its captured variables, arguments and locals go when the coroutine completes, before its awaiter runs; the result stays
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Noisy
{
    public static array $gone = [];
    public function __construct(public readonly string $name) {}
    public function __destruct() { self::$gone[] = $this->name; }
}

function start(): Async\Coroutine
{
    $captured = new Noisy('captured');
    return spawn(function(Noisy $argument, Noisy ...$more) use ($captured) {
        $local = new Noisy('local');
        do suspend(); while (!$GLOBALS['goes']);
        return ['result', $captured->name, new Noisy('result')];
    }, new Noisy('argument'), new Noisy('extra'), named: new Noisy('named'));
}

$goes = false;
$coroutine = start();
T\begun($coroutine);
echo 'while it runs: ', json_encode(Noisy::$gone), "\n";
$goes = true;
$result = await($coroutine);
sort(Noisy::$gone);
echo 'awaited: ', json_encode(Noisy::$gone), "\n";

Noisy::$gone = [];
unset($result);
gc_collect_cycles();
echo json_encode(array_slice($coroutine->getResult(), 0, 2)), ' ', json_encode(Noisy::$gone), "\n";
unset($coroutine);
echo json_encode(Noisy::$gone), "\n";
?>
--EXPECT--
while it runs: []
awaited: ["argument","captured","extra","local","named"]
["result","captured"] []
["result"]
