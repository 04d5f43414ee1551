<?php
// needs: ext:zmq
// ZeroMQ: threads of its own do the work, PHP's waits for them on a descriptor.
namespace Matrix;

function zmq(int $type): \ZMQSocket
{
    static $context;
    $socket = new \ZMQSocket($context ??= new \ZMQContext, $type);
    $socket->setSockOpt(\ZMQ::SOCKOPT_LINGER, 0);
    return $socket;
}

matrix('recv that gets nothing in time', function (): mixed {
    $socket = zmq(\ZMQ::SOCKET_PULL);
    $socket->bind('tcp://127.0.0.1:*');
    $socket->setSockOpt(\ZMQ::SOCKOPT_RCVTIMEO, ms());
    return $socket->recv();
}, n: 10);

matrix('poll', function (): int {
    $socket = zmq(\ZMQ::SOCKET_PULL);
    $socket->bind('tcp://127.0.0.1:*');
    $poll = new \ZMQPoll;
    $poll->add($socket, \ZMQ::POLL_IN);
    $readable = $writable = [];
    return $poll->poll($readable, $writable, ms());
}, n: 10);

with_coroutines('request and reply', function (Check $check): void {
    $server = zmq(\ZMQ::SOCKET_REP);
    $server->bind('tcp://127.0.0.1:*');
    $address = $server->getSockOpt(\ZMQ::SOCKOPT_LAST_ENDPOINT);
    $replies = \Async\spawn(function () use ($server): void {
        for ($n = 0; $n < 6; $n++) {
            $request = $server->recv();
            \usleep(20_000);
            $server->send(\strrev($request));
        }
    });
    $clients = [];
    for ($i = 0; $i < 3; $i++) {
        $clients[] = \Async\spawn(function () use ($address, $i): array {
            $client = zmq(\ZMQ::SOCKET_REQ);
            $client->connect(\rtrim($address, "\0"));
            return [$client->send("one $i")->recv(), $client->send("two $i")->recv()];
        });
    }
    foreach ($clients as $i => $client) {
        $answer = finished($client);
        $answer === ["$i eno", "$i owt"] or $check->problem('it got ' . \json_encode($answer));
    }
    finished($replies);
});

cancelled('recv', function (): void {
    $socket = zmq(\ZMQ::SOCKET_PULL);
    $socket->bind('tcp://127.0.0.1:*');
    $socket->recv();
});
