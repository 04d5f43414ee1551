--TEST--
H5 H10 descriptors passed over a Unix socket keep their message boundary, arrive once, and are usable
--EXTENSIONS--
sockets
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
[$left, $right] = $pair;
$receive = function() use ($right, &$through): array {
    $out = [];
    for ($i = 0; $i < 4; $i++) {
        $message = ['controllen' => socket_cmsg_space(SOL_SOCKET, SCM_RIGHTS, 3), 'buffer_size' => 100];
        $n = socket_recvmsg($right, $message, 0);
        $passed = $message['control'][0]['data'] ?? [];
        $out[] = [implode('', $message['iov']), count($passed)];
        foreach ($passed as $s) $through[] = fgets($s);
        if ($n === 0 || str_ends_with($out[$i][0], 'last')) break;
    }
    return $out;
};
foreach (['waiting for it', 'there before'] as $when) {
    $reader = $when === 'waiting for it' ? spawn($receive) : null;
    if ($reader) T\parked($reader);
    $through = [];
    $passed = [];
    foreach (["one\n", "two\n"] as $i => $line) {
        fwrite($passed[$i] = tmpfile(), $line);
        rewind($passed[$i]);
    }
    Async\await(spawn(function() use ($left, $passed) {
        socket_write($left, 'plain ');
        socket_sendmsg($left, ['iov' => ['with one '], 'control' => [['level' => SOL_SOCKET, 'type' => SCM_RIGHTS, 'data' => [$passed[0]]]]], 0);
        socket_sendmsg($left, ['iov' => ['with another '], 'control' => [['level' => SOL_SOCKET, 'type' => SCM_RIGHTS, 'data' => [$passed[1]]]]], 0);
        T\turns(10);
        socket_write($left, 'last');
    }));
    $reader ??= spawn($receive);
    $got = array_filter(Async\await($reader, Async\timeout(60_000)), fn($m) => $m[0] !== '');
    echo "$when: ", implode('', array_column($got, 0)), ', descriptors ', array_sum(array_column($got, 1)), ', not two in one: ', json_encode(max(array_column($got, 1)) === 1), "\n";
    echo json_encode($through), "\n";
}

// a large message with a descriptor: sent in parts, the descriptor goes once
socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $big);
socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $passed);
$size = 3_000_000;
$sending = spawn(fn() => socket_sendmsg($big[0], ['iov' => [str_repeat('x', $size)], 'control' => [['level' => SOL_SOCKET, 'type' => SCM_RIGHTS, 'data' => [$passed[0]]]]], 0));
$receiving = spawn(function() use ($big, $size) {
    $bytes = $descriptors = 0;
    while ($bytes < $size) {
        $message = ['controllen' => socket_cmsg_space(SOL_SOCKET, SCM_RIGHTS, 2), 'buffer_size' => 100_000];
        $bytes += $n = socket_recvmsg($big[1], $message, 0);
        if (!$n) break;
        $descriptors += count($message['control'][0]['data'] ?? []);
        if (mt_rand(0, 5) === 0) delay(0);
    }
    return [$bytes, $descriptors];
});
echo Async\await($sending), ' ', json_encode(Async\await($receiving)), "\n";
?>
--EXPECT--
waiting for it: plain with one with another last, descriptors 2, not two in one: true
["one\n","two\n"]
there before: plain with one with another last, descriptors 2, not two in one: true
["one\n","two\n"]
3000000 [3000000,1]
