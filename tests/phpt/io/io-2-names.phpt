--TEST--
IO-2 name look-ups of many coroutines give the right answers and let others run
--EXTENSIONS--
sockets
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

$expected = [gethostbyname('localhost'), gethostbynamel('localhost'), gethostbyname('127.0.0.9'), gethostbyaddr('127.0.0.1')];
$jobs = [];
for ($i = 0; $i < 10; $i++) {
    $jobs["$i 0"] = spawn(fn() => gethostbyname('localhost'));
    $jobs["$i 1"] = spawn(fn() => gethostbynamel('localhost'));
    $jobs["$i 2"] = spawn(fn() => gethostbyname('127.0.0.9'));
    $jobs["$i 3"] = spawn(fn() => gethostbyaddr('127.0.0.1'));
    $jobs["$i 4"] = spawn(fn() => array_unique(array_map(fn($a) => socket_addrinfo_explain($a)['ai_addr']['sin_port'] ?? 'v6', socket_addrinfo_lookup('127.0.0.1', '8080', ['ai_family' => AF_INET]))));
    $jobs["$i 5"] = spawn(fn() => @gethostbyname(str_repeat('x', 300)));
    $jobs["$i 6"] = spawn(fn() => @stream_socket_client('tcp://localhost:1', $errno, $error, 600) === false && $errno > 0);
}
$expected[4] = [8080];
$expected[5] = str_repeat('x', 300);
$expected[6] = true;
$wrong = [];
foreach (T\all($jobs) as $name => $result) {
    $kind = explode(' ', $name)[1];
    if ($kind === '5' && ($result === $expected[5] || $result === false)) continue;
    if ($result !== $expected[$kind]) $wrong[$name] = $result;
}
T\check('answers', $wrong === [], $wrong);

// a look-up that takes its time does not stop the rest (without a name server it may be over at once)
putenv('RES_OPTIONS=timeout:1 attempts:1');
$other = null;
$lookup = spawn(function() use (&$other) {
    $other = spawn(fn() => 1);
    return [gethostbyname('no-such-host.invalid'), $other->isCompleted()];
});
[$name, $ran] = Async\await($lookup);
echo "$name\n";
T\check('others ran', $ran);
?>
--EXPECT--
answers: yes
no-such-host.invalid
others ran: yes
