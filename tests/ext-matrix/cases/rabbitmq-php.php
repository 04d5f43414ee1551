<?php
// needs: rabbitmq peer file:/usr/share/php/PhpAmqpLib/autoload.php
// RabbitMQ through the library in PHP, on PHP's streams and on ext/sockets.
namespace Matrix;

use Async;
use PhpAmqpLib\Channel\AMQPChannel;
use PhpAmqpLib\Connection\AbstractConnection;
use PhpAmqpLib\Connection\AMQPSocketConnection;
use PhpAmqpLib\Connection\AMQPStreamConnection;
use PhpAmqpLib\Exception\AMQPTimeoutException;
use PhpAmqpLib\Message\AMQPMessage;

require '/usr/share/php/PhpAmqpLib/autoload.php';

$late = slowed(env('SPINDLE_RABBITMQ_PORT'), is_async() ? 50 : 1);

function rabbit(string|int|null $port = null, string $class = AMQPStreamConnection::class): AbstractConnection
{
    return new $class('127.0.0.1', (int) ($port ?? env('SPINDLE_RABBITMQ_PORT')), 'guest', 'guest');
}

function declared(AMQPChannel $channel): string
{
    return $channel->queue_declare(unique('queue'), auto_delete: true)[0];
}

foreach (['streams' => AMQPStreamConnection::class, 'sockets' => AMQPSocketConnection::class] as $name => $class) {
    matrix("publish, get, ack; $name", function (int $i) use ($late, $class): array {
        $connection = rabbit($late, $class);
        $channel = $connection->channel();
        $queue = declared($channel);
        $channel->confirm_select();
        $channel->basic_publish(new AMQPMessage("message $i"), '', $queue);
        $channel->wait_for_pending_acks(10);
        $message = $channel->basic_get($queue);
        $message->ack();
        $done = [$message->getBody(), $channel->basic_get($queue)];
        $channel->close();
        $connection->close();
        return $done;
    }, n: 6, ms: 400);

    matrix("consume what another publishes; $name", function (int $i) use ($class): array {
        $channel = rabbit(null, $class)->channel();
        $queue = declared($channel);
        $other = beside(function () use ($queue, $i): void {
            $connection = rabbit();
            foreach (['one', 'two', 'stop'] as $word) {
                \usleep(ms(150) * 1000);
                $connection->channel()->basic_publish(new AMQPMessage("$word $i"), '', $queue);
            }
            $connection->close();
        });
        $got = [];
        $channel->basic_consume($queue, callback: function (AMQPMessage $message) use (&$got): void {
            $got[] = $message->getBody();
            $message->ack();
        });
        while (\count($got) < 3) {
            $channel->wait(timeout: 10);
        }
        $other();
        return $got;
    }, n: 4, ms: 450);

    matrix("nothing to come; $name", function () use ($class): string {
        $channel = rabbit(null, $class)->channel();
        $channel->basic_consume(declared($channel), callback: fn() => null);
        try {
            $channel->wait(timeout: 1);
            return 'a message';
        } catch (AMQPTimeoutException) {
            return 'nothing';
        }
    }, n: 2, ms: 1000);

    cancelled("wait; $name", function () use ($class): void {
        $channel = rabbit(null, $class)->channel();
        $channel->basic_consume(declared($channel), callback: fn() => null);
        $channel->wait(timeout: 20);
    }, function () use ($class): string {
        $channel = rabbit(null, $class)->channel();
        $channel->basic_publish(new AMQPMessage('fine'), '', $queue = declared($channel));
        for ($try = 0; !($message = $channel->basic_get($queue, true)) && $try < 100; $try++) {
            \usleep(10_000);
        }
        $channel->getConnection()->close();
        return $message->getBody();
    });
}
