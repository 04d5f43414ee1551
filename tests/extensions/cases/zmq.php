<?php
namespace Matrix;

$pair = static function () {
    static $count = 0;
    $context = new \ZMQContext;
    $a = $context->getSocket(\ZMQ::SOCKET_PAIR);
    $b = $context->getSocket(\ZMQ::SOCKET_PAIR);
    $a->bind($address = 'inproc://' . ++$count);
    $b->connect($address);
    return [$a, $b];
};
check('ZMQSocket::send', static fn($p, int $n) => \get_class($p[0]->send(text("text $n"))), $pair, static fn($p) => \strlen($p[1]->recv() . $p[1]->recv()), in: 'ZMQSocket::send');
check('ZMQSocket::sendMulti', static fn($p, int $n) => \get_class($p[0]->sendMulti(texts("a$n", 'b'))), $pair, static fn($p) => [$p[1]->recvMulti()[1], $p[1]->recvMulti()[1]], in: 'ZMQSocket::sendMulti');
check('ZMQSocket::recv', static function ($address, int $n) {
    $child = \proc_open([PHP_BINARY, '-n', '-d', 'extension=zmq', '-r', 'usleep(100000); $s = (new ZMQContext)->getSocket(ZMQ::SOCKET_PUSH); $s->connect($argv[1]); $s->send("text $argv[2]"); usleep(100000);', "$address-$n", "$n"], [], $pipes);
    $socket = (new \ZMQContext)->getSocket(\ZMQ::SOCKET_PULL);
    $socket->bind("$address-$n");
    $text = $socket->recv();
    \proc_close($child);
    return $text;
}, static fn() => 'ipc://' . scratch(), apart: true, in: 'ZMQSocket::recv');
check('ZMQPoll::poll', static function ($p, int $n) { $poll = new \ZMQPoll; $poll->add($p[1], \ZMQ::POLL_IN); $read = $write = []; return $poll->poll($read, $write, 50); }, $pair, in: 'ZMQPoll::poll');
check('ZMQContext::getSocket', static fn($c, int $n) => \get_class($c->getSocket(\ZMQ::SOCKET_PAIR, text("id$n"), static function () { pause(); })), static fn() => new \ZMQContext, in: 'ZMQContext::getSocket', apart: true);
