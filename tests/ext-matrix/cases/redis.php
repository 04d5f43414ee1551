<?php
// needs: redis ext:redis
// Redis through phpredis.
namespace Matrix;

// phpredis 5 knows only whole seconds for blPop's timeout, the server takes fractions; the code that waits is the same
function block(\Redis $redis, string $key): mixed
{
    return $redis->rawCommand('BLPOP', $key, (string) seconds());
}

matrix('blPop with nothing to pop', function (int $i): array {
    $redis = redis();
    return [block($redis, unique("empty_$i")), $redis->echo("still here $i")];
});

matrix('blPop for a second', fn(int $i) => redis()->blPop([unique("empty_$i")], 1), n: 4, ms: 1000);

matrix('blPop of what another pushes', function (int $i): array {
    $key = unique("list_$i");
    $other = beside(function () use ($key, $i): int {
        \usleep(ms() * 1000);
        return redis()->rPush($key, "item $i");
    });
    $popped = redis()->blPop([$key], 10);
    return [$popped[0] === $key, $popped[1], $other()];
});

matrix('pipeline and transaction', function (int $i): array {
    $redis = redis();
    $key = unique("key_$i");
    $pipeline = $redis->pipeline();
    for ($n = 0; $n < 100; $n++) {
        $pipeline->rPush($key, "$i.$n");
    }
    $pushed = $pipeline->lLen($key)->exec();
    block($redis, unique('empty'));
    $in_multi = $redis->multi()->incrBy("$key.counter", $i)->lRange($key, 0, 2)->del($key, "$key.counter")->exec();
    return [$pushed[99], $pushed[100], $in_multi];
});

matrix('read timeout', function (int $i): array {
    $redis = redis();
    $redis->setOption(\Redis::OPT_READ_TIMEOUT, seconds());
    try {
        $answer = $redis->rawCommand('BLPOP', unique('empty'), '5');
    } catch (\RedisException $e) {
        $answer = $e->getMessage();
    }
    return [$answer, redis()->echo("a new connection $i")];
});

matrix('big values', function (int $i): string {
    $redis = redis();
    $key = unique("big_$i");
    $redis->set($key, \str_repeat("value $i ", 200_000));
    $value = $redis->get($key);
    $redis->del($key);
    return \md5($value);
}, n: 6, evidence: 'switch');

scenario('publish and subscribe', function (): array {
    $channel = unique('channel');
    $publisher = beside(function () use ($channel): array {
        $redis = redis();
        while ($redis->pubsub('numsub', [$channel])[$channel] < 1) {
            \usleep(10_000);
        }
        $receivers = [];
        foreach (['one', 'two', 'three', 'stop'] as $message) {
            \usleep(50_000);
            $receivers[] = $redis->publish($channel, $message);
        }
        return $receivers;
    });
    $subscriber = redis();
    $subscriber->setOption(\Redis::OPT_READ_TIMEOUT, 5);
    $messages = [];
    try {
        $subscriber->subscribe([$channel], function (\Redis $redis, string $from, string $message) use ($channel, &$messages) {
            $messages[] = [$from === $channel, $message];
            if ($message === 'stop') {
                $redis->close(); // phpredis 5 does not come back after unsubscribe()
            }
        });
    } catch (\RedisException $e) {
        $messages[] = $e->getMessage();
    }
    return [$messages, $publisher()];
}, waits: 50);

scenario('scan while others write', function (): array {
    $prefix = unique('scan');
    $writer = beside(function () use ($prefix): void {
        $redis = redis();
        for ($n = 0; $n < 200; $n++) {
            $redis->set("$prefix.other.$n", 'x', ['ex' => 60]);
        }
    });
    $redis = redis();
    for ($n = 0; $n < 200; $n++) {
        $redis->set("$prefix.mine.$n", $n, ['ex' => 60]);
    }
    $redis->setOption(\Redis::OPT_SCAN, \Redis::SCAN_RETRY);
    $found = [];
    $iterator = null;
    while (($keys = $redis->scan($iterator, "$prefix.mine.*", 20)) !== false) {
        $found = \array_merge($found, $keys);
    }
    $writer();
    return [\count(\array_unique($found))];
});
