<?php
// needs: rabbitmq peer
namespace Matrix;

$late = slowed(env('SPINDLE_RABBITMQ_PORT'));
$connect = static function () use ($late) { $c = new \AMQPConnection(['host' => '127.0.0.1', 'port' => $late, 'login' => 'guest', 'password' => 'guest', 'read_timeout' => 10]); $c->connect(); return new \AMQPChannel($c); };
$queue = static function (int $messages = 0) use ($connect) {
    $channel = $connect();
    $queue = new \AMQPQueue($channel);
    $queue->setName(unique());
    $queue->setFlags(AMQP_AUTODELETE);
    $queue->declareQueue();
    $exchange = new \AMQPExchange($channel);
    for ($i = 1; $i <= $messages; $i++) $exchange->publish("message $i", $queue->getName());
    return $queue;
};
$named = static function ($channel, int $n) { $q = new \AMQPQueue($channel); $q->setName(unique("q$n")); $q->setFlags(AMQP_AUTODELETE); return $q; };
check('declareQueue', static fn($channel, int $n) => $named($channel, $n)->declareQueue(), $connect, in: 'AMQPQueue::declareQueue');
check('get', static fn($q, int $n) => \substr($q->get(AMQP_AUTOACK)?->getBody() ?? '', 0, 7), static fn() => $queue(2), in: 'AMQPQueue::get');
check('consume', static function ($q, int $n) { $got = null; $q->consume(static function ($message) use (&$got) { pause(); $got = $message->getBody(); return false; }, AMQP_AUTOACK); return $got; }, static fn() => $queue(1), apart: true, in: 'AMQPQueue::consume');
check('two channels of one connection', static fn($channel, int $n) => $named(new \AMQPChannel($channel->getConnection()), $n)->declareQueue(), $connect, in: ['AMQPQueue::declareQueue', 'AMQPChannel::__construct']);
check('publish, of objects', static fn($q, int $n) => (new \AMQPExchange($q->getChannel()))->publish(text("m$n"), text($q->getName()), AMQP_NOPARAM, ['headers' => ['a' => "b$n"]]), static fn() => $queue(), in: 'AMQPExchange::publish');
check('a transaction', static fn($q, int $n) => [$q->getChannel()->startTransaction(), $q->getChannel()->commitTransaction()], static fn() => $queue(), apart: true, in: ['AMQPChannel::startTransaction', 'AMQPChannel::commitTransaction']);
check('connect', static fn($_, int $n) => \get_class($connect()), in: ['AMQPConnection::connect', 'AMQPChannel::__construct']);
