--TEST--
Async\Poll with many streams at once: each that is ready is returned, by every wait, and others run in between
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{spawn, await};

foreach ([pair(...), fn() => accepted('tcp://127.0.0.1:0')] as $pair) {
    $poll = new Async\Poll;
    [$ours, $peers, $names] = [[], [], []];
    for ($i = 0; $i < 10; $i++) {
        [$ours[$i], $peers[$i]] = $pair();
        stream_set_blocking($ours[$i], false);
        $poll->watchRead($ours[$i]);
        $names[$i] = $ours[$i];
    }
    $write = function (int ...$which) use ($peers): void {
        foreach ($which as $i) fwrite($peers[$i], 'x');
    };
    $read = fn(array $result) => implode('', array_map(fn($stream) => fread($stream, 10), $result[0]));
    $all = range(0, 9);

    $write(...$all);
    for ($round = 0; $round < 3; $round++) {
        $result = $poll->wait();
        echo found($result, $names), ' ', $read($result), "\n";
        $write(...$all); // it is busy, and all were read
    }
    $result = $poll->wait();
    echo $read($result), "\n";
    echo 'nothing: ', found($poll->wait(0), $names), "\n";
    // Another coroutine writes, which runs while the busy loop looks.
    $write(...$all);
    $result = $poll->wait();
    $turns = 0;
    $other = spawn(function () use ($write, &$turns) { for (; $turns < 20; $turns++) { Async\suspend(); } $write(3); });
    echo $read($result), ' ';
    $result = $poll->wait();
    echo "$turns turns ", $read($result), "\n";
    await($other);
    // Some of many, while others stay unread.
    $write(...$all);
    $result = $poll->wait();
    fread($ours[4], 10);
    fread($ours[7], 10);
    echo found($poll->wait(), $names), "\n";
    foreach ($all as $i) $i === 2 || fread($ours[$i], 10);
    echo found($poll->wait(), $names), "\n";
    fread($ours[2], 10);
    // Of the busy loop, one that is closed, and one that is not watched any more.
    $write(...$all);
    $poll->wait();
    fclose($peers[5]);
    $poll->unwatchRead($ours[6]);
    foreach ($all as $i) fread($ours[$i], 10);
    echo found($poll->wait(), $names), "\n";
}
?>
--EXPECT--
read [0 1 2 3 4 5 6 7 8 9] write [] signals [] xxxxxxxxxx
read [0 1 2 3 4 5 6 7 8 9] write [] signals [] xxxxxxxxxx
read [0 1 2 3 4 5 6 7 8 9] write [] signals [] xxxxxxxxxx
xxxxxxxxxx
nothing: read [] write [] signals []
xxxxxxxxxx 20 turns x
read [0 1 2 3 5 6 8 9] write [] signals []
read [2] write [] signals []
read [5] write [] signals []
read [0 1 2 3 4 5 6 7 8 9] write [] signals [] xxxxxxxxxx
read [0 1 2 3 4 5 6 7 8 9] write [] signals [] xxxxxxxxxx
read [0 1 2 3 4 5 6 7 8 9] write [] signals [] xxxxxxxxxx
xxxxxxxxxx
nothing: read [] write [] signals []
xxxxxxxxxx 20 turns x
read [0 1 2 3 5 6 8 9] write [] signals []
read [2] write [] signals []
read [5] write [] signals []
