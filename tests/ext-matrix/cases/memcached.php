<?php
// needs: memcached peer ext:igbinary ext:msgpack ext:memcached
// memcached through libmemcached. The server never makes anybody wait, so a proxy does.
namespace Matrix;

use Async;

$late = slowed(env('SPINDLE_MEMCACHED_PORT'), is_async() ? 100 : 1);
$prefix = unique('memcached');

function memcached(string|int $port, array $options = []): \Memcached
{
    $memcached = new \Memcached;
    $memcached->setOptions($options);
    $memcached->addServer('127.0.0.1', (int) $port);
    return $memcached;
}

matrix('set, get, increment, delete', function (int $i) use ($late, $prefix): array {
    $memcached = memcached($late);
    return [
        $memcached->set("$prefix.$i", ["value $i", $i]),
        $memcached->get("$prefix.$i"),
        $memcached->add("$prefix.$i", 'there is one'),
        $memcached->getResultCode(),
        $memcached->set("$prefix.n$i", $i),
        $memcached->increment("$prefix.n$i", 5),
        $memcached->delete("$prefix.$i"),
        $memcached->get("$prefix.$i"),
        $memcached->getResultMessage(),
    ];
}, n: 10, ms: 700);

matrix('setMulti, getMulti, getDelayed', function (int $i) use ($late, $prefix): array {
    $memcached = memcached($late);
    $values = [];
    for ($n = 0; $n < 4; $n++) { // each waits for its answer
        $values["$prefix.$i.$n"] = "$i.$n";
    }
    $set = $memcached->setMulti($values);
    $got = $memcached->getMulti(\array_keys($values));
    \ksort($got);
    $delayed = $memcached->getDelayed(["$prefix.$i.3"]);
    return [$set, \md5(\implode(' ', $got)), \count($got), $delayed, $memcached->fetchAll()[0]['value']];
}, n: 10, ms: 600);

matrix('the binary protocol', function (int $i) use ($late, $prefix): array {
    $memcached = memcached($late, [\Memcached::OPT_BINARY_PROTOCOL => true]);
    return [$memcached->set("$prefix.b$i", $i), $memcached->get("$prefix.b$i"), $memcached->touch("$prefix.b$i", 100), $memcached->getVersion() !== false];
}, n: 10, ms: 300);

matrix('cas', function (int $i) use ($late, $prefix): array {
    $mine = memcached($late);
    $mine->set("$prefix.cas$i", 'old');
    $token = $mine->get("$prefix.cas$i", null, \Memcached::GET_EXTENDED)['cas'];
    return [$mine->cas($token, "$prefix.cas$i", 'new'), $mine->cas($token, "$prefix.cas$i", 'newer'), $mine->getResultCode(), $mine->get("$prefix.cas$i")];
}, n: 10, ms: 500);

// everybody counts the same number up
memcached(env('SPINDLE_MEMCACHED_PORT'))->set("$prefix.counter", 0);
matrix('cas against one another', function () use ($late, $prefix): bool {
    $memcached = memcached($late);
    do {
        $now = $memcached->get("$prefix.counter", null, \Memcached::GET_EXTENDED);
    } while (!$memcached->cas($now['cas'], "$prefix.counter", $now['value'] + 1));
    return true;
}, n: 5, ms: 300, evidence: 'ticks');
matrix('what they counted', fn() => memcached(env('SPINDLE_MEMCACHED_PORT'))->get("$prefix.counter"), n: 1, evidence: 'none');

matrix('big values', function (int $i) use ($late, $prefix): array {
    $memcached = memcached($late, [\Memcached::OPT_COMPRESSION => false]);
    $value = \str_repeat("big $i ", 100_000);
    return [$memcached->set("$prefix.big$i", $value), \md5($memcached->get("$prefix.big$i")), $memcached->delete("$prefix.big$i")];
}, n: 6, ms: 300);

matrix('a server that does not answer in time', function (int $i): array {
    $silent = slowed(env('SPINDLE_MEMCACHED_PORT'), 20_000);
    $memcached = memcached($silent, [\Memcached::OPT_POLL_TIMEOUT => ms()]);
    return [$memcached->get('anything'), $memcached->getResultMessage()];
}, n: 10);

matrix('nobody there', function (): array {
    $memcached = memcached(1);
    return [$memcached->get('anything'), $memcached->getResultCode()];
}, n: 3, evidence: 'none');

// --- one object in several coroutines ----------------------------------------------------------------------------------

$shared = memcached($late);
matrix('one object', function (int $i) use ($shared, $prefix): array {
    $answers = [$shared->set("$prefix.shared$i", "mine $i"), $shared->get("$prefix.shared$i")];
    $answers[] = $shared->getMulti(["$prefix.shared$i", "$prefix.nothing"]);
    return [$answers[0], $answers[1], \array_values($answers[2])];
}, n: 5, ms: 300, evidence: 'ticks');

// --- cancellation ------------------------------------------------------------------------------------------------------

cancelled('get', fn() => memcached(slowed(env('SPINDLE_MEMCACHED_PORT'), 20_000))->get('anything'), function () use ($prefix): array {
    $memcached = memcached(env('SPINDLE_MEMCACHED_PORT'));
    return [$memcached->set("$prefix.fresh", 'fine'), $memcached->get("$prefix.fresh")];
});

with_coroutines('the object works after a cancellation', function (Check $check) use ($prefix): void {
    $memcached = cut_off($check, function () use ($prefix): \Memcached {
        $memcached = memcached(slowed(env('SPINDLE_MEMCACHED_PORT'), 1000));
        $memcached->set("$prefix.one", 1);
        $memcached->set("$prefix.two", 2);
        return $memcached;
    }, fn(\Memcached $memcached) => $memcached->get("$prefix.one"));
    // what the first had asked for must not be the answer to the second
    $answer = $memcached->get("$prefix.two");
    $answer === 2 or $memcached->get("$prefix.two") === 2 or $check->problem('it answers ' . \json_encode($answer));
    \in_array($answer, [2, false], true) or $check->problem('another one\'s answer: ' . \json_encode($answer));
    $check->facts['the next one got'] = \json_encode($answer);
});
