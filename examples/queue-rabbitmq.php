<?php

/**
 * Works a queue of RabbitMQ, 20 jobs at a time. SIGTERM: no new ones, and the end when those that run are done.
 *
 *     RABBITMQ=127.0.0.1:5672 php -d extension=amqp -d extension=build/spindle.so examples/queue-rabbitmq.php HANDLER
 *
 * HANDLER is a file that returns what does a job: fn (string $body): void.
 */

declare(strict_types=1);

use Async\Channel;
use function Async\{delay, group, iterate, signal, spawn};

const AT_ONCE = 20;
const TRIES = 3;

$handle = require $argv[1];
$stop = signal(SIGTERM);
[$host, $port] = explode(':', getenv('RABBITMQ') ?: '127.0.0.1:5672');
$connection = new AMQPConnection(['host' => $host, 'port' => (int) $port, 'heartbeat' => (int) (getenv('HEARTBEAT_S') ?: 30), 'read_timeout' => 0.02]);
$connection->connect();
$channel = new AMQPChannel($connection);
$channel->setPrefetchCount(AT_ONCE);

$declare = function (string $name, array $arguments) use ($channel): AMQPQueue {
    $queue = new AMQPQueue($channel);
    $queue->setName($name);
    $queue->setFlags(AMQP_DURABLE);
    $queue->setArguments($arguments + ['x-queue-type' => 'quorum']);
    $queue->declareQueue();
    return $queue;
};
$declare('jobs.dead', []);
$queue = $declare('jobs', [
    'x-delivery-limit' => TRIES - 1, // how often a job comes again, after failures and after ends of its worker
    'x-dead-letter-exchange' => '',
    'x-dead-letter-routing-key' => 'jobs.dead',
    'x-dead-letter-strategy' => 'at-least-once',
    'x-overflow' => 'reject-publish', // which that strategy needs
]);

$run = function (AMQPEnvelope $message) use ($queue, $handle): void {
    try {
        $handle($message->getBody());
        $queue->ack($message->getDeliveryTag());
    } catch (Throwable $e) {
        $try = 1 + (int) $message->getHeader('x-delivery-count');
        error_log("job {$message->getMessageId()}, try $try: {$e->getMessage()}");
        delay(1000);
        $queue->nack($message->getDeliveryTag(), AMQP_REQUEUE);
    }
};

$jobs = new Channel(AT_ONCE); // never full: the server sends no more than AT_ONCE before they are acknowledged
group(function () use ($queue, $jobs, $run, $stop): void {
    $workers = spawn(iterate(...), $jobs, $run, AT_ONCE);
    $queue->consume(null);
    $receive = function (AMQPEnvelope $message) use ($jobs): bool {
        $jobs->send($message);
        return false; // no more now: jobs are acknowledged in between
    };
    for ($is_ending = false; !$workers->isCompleted();) { // also while the last jobs run: this sends the heartbeats
        try {
            $queue->consume($receive, AMQP_JUST_CONSUME);
        } catch (AMQPEnvelopeException $e) { // sent to us before the server knew of the end
            $jobs->send($e->envelope ?? $e->getEnvelope());
        } catch (AMQPQueueException $e) { // nothing has come
            $e->getMessage() === 'Consumer timeout exceed' || throw $e;
            $is_ending && $jobs->close();
        }
        if ($stop->isCompleted() && !$is_ending) {
            $is_ending = true;
            $queue->cancel();
        }
    }
});
$connection->disconnect();
