--TEST--
CORO-7 getAwaitingInfo() tells something for every way to wait, and nothing for who does not wait
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, spawn, suspend, timeout};

require __DIR__ . '/kit.inc';

set_error_handler(fn() => true); // a function that is cancelled may warn
[$a, $b] = T\pair();
$slow = spawn(fn() => delay(600_000));
$waiting = [
    'delay' => $slow,
    'await' => spawn(fn() => await($slow)),
    'await with a token' => spawn(fn() => await($slow, timeout(60_000))),
    'usleep' => spawn(fn() => usleep(600_000_000)),
    'read' => spawn(fn() => fgets($a)),
    'select' => spawn(function() use ($b) { $r = [$b]; $w = $x = null; stream_select($r, $w, $x, 600); }),
];
$new = spawn(fn() => 1);
var_dump($new->getAwaitingInfo());
T\parked(...$waiting);
$told = [];
foreach ($waiting as $name => $c) {
    $info = $c->getAwaitingInfo();
    T\check($name, $info !== [] && json_encode($info) !== false, $info);
    $told[] = json_encode($info);
}
// it can be told apart what they wait for
T\check('different', count(array_unique($told)) >= 4, $told);
var_dump($new->getAwaitingInfo(), currentCoroutine()->getAwaitingInfo());
foreach ($waiting as $c) {
    $c->cancel();
    T\failure($c);
}
?>
--EXPECT--
array(0) {
}
delay: yes
await: yes
await with a token: yes
usleep: yes
read: yes
select: yes
different: yes
array(0) {
}
array(0) {
}
