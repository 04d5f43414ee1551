<?php
// needs: rabbitmq peer ext:amqp
// RabbitMQ through the C library. The server answers when there is something; a proxy makes the rest late.
namespace Matrix;

use Async;

$late = slowed(env('SPINDLE_RABBITMQ_PORT'), is_async() ? 50 : 1);

function rabbit(string|int|null $port = null, array $more = []): \AMQPChannel
{
    $connection = new \AMQPConnection($more + ['host' => '127.0.0.1', 'port' => (int) ($port ?? env('SPINDLE_RABBITMQ_PORT')), 'login' => 'guest', 'password' => 'guest']);
    $connection->connect();
    return new \AMQPChannel($connection);
}

function queue(\AMQPChannel $channel, ?string $name = null): \AMQPQueue
{
    $queue = new \AMQPQueue($channel);
    $queue->setName($name ?? unique('queue'));
    $queue->setFlags(AMQP_AUTODELETE);
    $queue->declareQueue();
    return $queue;
}

matrix('publish, get, ack', function (int $i) use ($late): array {
    $channel = rabbit($late);
    $queue = queue($channel);
    $exchange = new \AMQPExchange($channel);
    $exchange->publish("message $i", $queue->getName(), AMQP_NOPARAM, ['headers' => ['number' => $i]]);
    for ($try = 0; !($message = $queue->get()) && $try < 100; $try++) {
        \usleep(10_000);
    }
    $done = [$message->getBody(), $message->getHeader('number'), $queue->ack($message->getDeliveryTag()), $queue->get()];
    $queue->delete();
    return $done;
}, n: 10, ms: 500);

matrix('consume what another publishes', function (int $i): array {
    $queue = queue(rabbit(null, ['read_timeout' => 10]));
    $name = $queue->getName();
    $other = beside(function () use ($name, $i): void {
        $exchange = new \AMQPExchange(rabbit());
        foreach (['one', 'two', 'stop'] as $word) {
            \usleep(ms(200) * 1000);
            $exchange->publish("$word $i", $name);
        }
    });
    $got = [];
    $queue->consume(function (\AMQPEnvelope $message, \AMQPQueue $queue) use (&$got): bool {
        $got[] = $message->getBody();
        $queue->ack($message->getDeliveryTag());
        return !\str_starts_with($message->getBody(), 'stop');
    });
    $other();
    return $got;
}, n: 5, ms: 600);

matrix('consume with nothing to come', function (): string {
    $queue = queue(rabbit(null, ['read_timeout' => seconds()]));
    try {
        $queue->consume(fn() => false);
        return 'a message';
    } catch (\AMQPException $e) {
        return $e::class . ': ' . $e->getMessage();
    }
}, n: 10);

matrix('transactions and confirms', function (int $i) use ($late): array {
    $channel = rabbit($late);
    $queue = queue($channel);
    $exchange = new \AMQPExchange($channel);
    $channel->startTransaction();
    $exchange->publish("lost $i", $queue->getName());
    $channel->rollbackTransaction();
    $exchange->publish("kept $i", $queue->getName());
    $channel->commitTransaction();
    $confirming = rabbit($late);
    $confirming->confirmSelect();
    $confirmed = 0;
    $confirming->setConfirmCallback(function () use (&$confirmed): bool {
        $confirmed++;
        return false;
    });
    (new \AMQPExchange($confirming))->publish("confirmed $i", $queue->getName());
    $confirming->waitForConfirm(10);
    $got = [];
    while ($message = $queue->get(AMQP_AUTOACK)) {
        $got[] = $message->getBody();
    }
    return [$got, $confirmed];
}, n: 5, ms: 800);

matrix('errors of the server', function () use ($late): array {
    try {
        $queue = new \AMQPQueue(rabbit($late));
        $queue->setName('no such queue');
        $queue->setFlags(AMQP_PASSIVE);
        $queue->declareQueue();
    } catch (\AMQPException $e) {
        return [$e::class, $e->getCode()];
    }
}, n: 5, ms: 300);

// --- one connection, and one channel, in several coroutines --------------------------------------------------------------

$channel = rabbit($late);
matrix('one channel', function (int $i) use ($channel): array {
    $queue = queue($channel);
    $exchange = new \AMQPExchange($channel);
    $got = [];
    for ($n = 0; $n < 3; $n++) {
        $exchange->publish("$i.$n", $queue->getName());
        for ($try = 0; !($message = $queue->get(AMQP_AUTOACK)) && $try < 100; $try++) {
            \usleep(10_000);
        }
        $got[] = $message->getBody();
    }
    $queue->delete();
    return $got;
}, n: 4, ms: 200, evidence: 'ticks');

$connection = $channel->getConnection();
matrix('a channel each on one connection', function (int $i) use ($connection): array {
    $channel = new \AMQPChannel($connection);
    $queue = queue($channel);
    (new \AMQPExchange($channel))->publish("message $i", $queue->getName());
    for ($try = 0; !($message = $queue->get(AMQP_AUTOACK)) && $try < 100; $try++) {
        \usleep(10_000);
    }
    $queue->delete();
    return [$message->getBody()];
}, n: 4, ms: 200, evidence: 'ticks');

with_coroutines('what needs no answer, beside a consumer', function (): void {
    $channel = rabbit(null, ['read_timeout' => 0]);
    $queue = queue($channel);
    $name = $queue->getName();
    $got = [];
    $consumer = Async\spawn(function () use ($queue, &$got): void {
        $queue->consume(function (\AMQPEnvelope $message, \AMQPQueue $queue) use (&$got): bool {
            $got[] = $message->getBody();
            $queue->ack($message->getDeliveryTag());
            return $message->getBody() !== 'stop';
        });
    });
    in_the_middle($consumer);
    $other = Async\spawn(function () use ($channel, $name): array {
        $exchange = new \AMQPExchange($channel);
        $exchange->publish('one', $name);
        unset($exchange);
        $same = new class ($channel) extends \AMQPQueue {};
        $same->setName($name);
        $connection = $channel->getConnection();
        return [$same->getName(), $same->getChannel() === $channel, $connection->isConnected(), $connection->getHost(), $connection->getVerify(), $channel->isConnected()];
    });
    $answers = finished($other);
    expect($answers === [$name, true, true, '127.0.0.1', true, true], 'other answers: ' . \json_encode($answers));
    expect(!$consumer->isCompleted(), 'the consumer has ended');
    // A call with an answer waits for the consumer, and so does another construction of what is in use. What is sent now comes after
    // these, so the end comes by another connection.
    $purging = Async\spawn(function () use ($channel, $name): mixed {
        $same = new \AMQPQueue($channel);
        $same->setName($name);
        return $same->purge();
    });
    $again = Async\spawn(fn() => $queue->__construct($channel));
    in_the_middle($purging);
    in_the_middle($again);
    foreach ([$purging, $again] as $waiting) {
        expect($waiting->getAwaitingInfo()['call'] === 'locked handle', 'does not wait: ' . \json_encode($waiting->getAwaitingInfo()));
    }
    (new \AMQPExchange(rabbit()))->publish('stop', $name);
    finished($consumer);
    expect(finished($purging) !== false, 'not purged');
    finished($again);
    expect($got === ['one', 'stop'], 'messages: ' . \json_encode($got));
});

with_coroutines('an ack beside a consumer, with heartbeats', function (): void {
    $channel = rabbit(null, ['read_timeout' => 0, 'heartbeat' => 60]);
    $queue = queue($channel);
    $other = new \AMQPExchange(rabbit());
    $other->publish('one', $queue->getName());
    for ($try = 0; !($message = $queue->get()) && $try < 100; $try++) {
        \usleep(10_000);
    }
    $consumer = Async\spawn(fn() => $queue->consume(fn() => false, AMQP_AUTOACK));
    in_the_middle($consumer);
    // The library aborts the process when something is sent while it waits for the time of a heartbeat.
    $own = new class ($channel) extends \AMQPExchange {};
    foreach ([fn() => $queue->ack($message->getDeliveryTag()), fn() => $own->publish('two', $queue->getName())] as $send) {
        in_the_middle($sends[] = Async\spawn($send));
    }
    foreach ($sends as $send) {
        expect($send->getAwaitingInfo()['call'] === 'locked handle', 'does not wait: ' . \json_encode($send->getAwaitingInfo()));
    }
    $other->publish('stop', $queue->getName());
    finished($consumer);
    \array_map(finished(...), $sends);
});

// --- cancellation ------------------------------------------------------------------------------------------------------

$fresh = function (): array {
    $queue = queue($channel = rabbit());
    (new \AMQPExchange($channel))->publish('fine', $queue->getName());
    for ($try = 0; !($message = $queue->get(AMQP_AUTOACK)) && $try < 100; $try++) {
        \usleep(10_000);
    }
    $queue->delete();
    return [$message->getBody()];
};
cancelled('connecting', fn() => rabbit(slowed(env('SPINDLE_RABBITMQ_PORT'), 20_000)), $fresh);
cancelled('consume', fn() => queue(rabbit())->consume(fn() => false), $fresh);
with_coroutines('get, and the connection after it', function (Check $check): void {
    $queue = cut_off($check, function () use (&$channel): \AMQPQueue {
        $channel = rabbit(slowed(env('SPINDLE_RABBITMQ_PORT'), 500));
        $queue = queue($channel);
        (new \AMQPExchange($channel))->publish('one', $queue->getName());
        return $queue;
    }, fn(\AMQPQueue $queue) => $queue->get(AMQP_AUTOACK));
    try {
        $answer = queue($channel)->get();
        $answer === null || $answer === false or $check->problem('another one\'s answer: ' . $answer->getBody());
        $check->facts['the next call got'] = \json_encode($answer);
    } catch (\AMQPException $e) {
        $check->facts['the next call got'] = $e::class . ' ' . $e->getMessage();
    }
});
