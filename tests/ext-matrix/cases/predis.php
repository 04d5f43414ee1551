<?php
// needs: redis file:/usr/share/php/Predis/autoload.php
// Predis as Debian packages it: a Redis client in plain PHP.
namespace Matrix;

use Predis\{Client, Connection\ConnectionException, Transaction\MultiExec};

require '/usr/share/php/Predis/autoload.php';

function predis(array $parameters = []): Client
{
    return new Client($parameters + ['host' => env('SPINDLE_REDIS_HOST'), 'port' => env('SPINDLE_REDIS_PORT')]);
}

matrix('blpop of what another pushes', function (int $i): array {
    $key = unique("list_$i");
    $other = beside(function () use ($key, $i): int {
        \usleep(ms(300) * 1000);
        return predis()->rpush($key, ["item $i", 'more']);
    });
    $client = predis();
    $popped = $client->blpop([$key], 10);
    return [$popped[1], $other(), $client->lrange($key, 0, -1), $client->del([$key])];
}, n: 8, ms: 300);

matrix('over a Unix socket', function (int $i): array {
    $client = new Client(['scheme' => 'unix', 'path' => env('SPINDLE_REDIS_SOCKET'), 'database' => 3]);
    return [$client->executeRaw(['BLPOP', unique('empty'), (string) seconds(300)]), $client->echo("unix $i")];
}, n: 8, ms: 300);

matrix('pipeline', function (int $i): array {
    $key = unique("key_$i");
    $client = predis();
    $client->executeRaw(['BLPOP', unique('empty'), (string) seconds(300)]);
    $answers = $client->pipeline(function ($pipe) use ($key, $i): void {
        for ($n = 0; $n < 500; $n++) {
            $pipe->rpush($key, ["$i.$n"]);
        }
        $pipe->lrange($key, 250, 252);
        $pipe->del([$key]);
    });
    return [\count($answers), $answers[499], $answers[500], $answers[501]];
}, n: 6, ms: 300);

matrix('transaction with watch and a retry', function (int $i): array {
    $key = unique("key_$i");
    $client = predis();
    $client->set($key, 1);
    $tries = 0;
    $answers = $client->transaction(['watch' => $key, 'cas' => true, 'retry' => 3], function (MultiExec $tx) use ($key, &$tries): void {
        $value = $tx->get($key);
        if (++$tries === 1) {
            \usleep(ms(300) * 1000);
            predis()->incrby($key, 10); // makes the first try fail
        }
        $tx->multi();
        $tx->set($key, $value + 1);
        $tx->get($key);
    });
    return [$tries, (string) $answers[0], $answers[1], $client->del([$key])];
}, n: 6, ms: 300);

matrix('a publish-subscribe loop', function (int $i): array {
    $channel = unique("channel_$i");
    $publisher = beside(function () use ($channel): array {
        $client = predis();
        while ($client->pubsub('NUMSUB', $channel)[$channel] < 1) {
            \usleep(5000);
        }
        $received = [];
        foreach (['one', 'two', 'quit'] as $word) {
            \usleep(ms(100) * 1000);
            $received[] = $client->publish($channel, $word);
        }
        return $received;
    });
    $loop = predis(['read_write_timeout' => 20])->pubSubLoop();
    $loop->subscribe($channel);
    $messages = [];
    foreach ($loop as $message) {
        if ($message->kind === 'message') {
            $messages[] = $message->payload;
            $message->payload === 'quit' and $loop->unsubscribe();
        }
    }
    return [$messages, $publisher()];
}, n: 6, ms: 300);

matrix('iterators over keys', function (int $i): array {
    $client = predis();
    $key = unique("hash_$i");
    for ($n = 0; $n < 1000; $n++) {
        $values["field $n"] = $n * $i;
    }
    $client->hmset($key, $values);
    $found = \iterator_to_array(new \Predis\Collection\Iterator\HashKey($client, $key, 'field 1*'));
    return [\count($found), \array_sum($found), $client->del([$key])];
}, n: 6, evidence: 'switch');

matrix('a read timeout', function (int $i): array {
    try {
        $answer = predis(['read_write_timeout' => seconds(300)])->blpop([unique('empty')], 20);
    } catch (ConnectionException $e) {
        $answer = \preg_replace('/ \[.*/', '', $e->getMessage());
    }
    return [$answer, predis()->echo("a new connection $i")];
}, n: 6, ms: 300);

matrix('big values', function (int $i): array {
    $client = predis();
    $key = unique("big_$i");
    $client->set($key, $value = \str_repeat("value $i ", 200_000));
    return [$client->get($key) === $value, $client->strlen($key), $client->del([$key])];
}, n: 5, evidence: 'switch');
