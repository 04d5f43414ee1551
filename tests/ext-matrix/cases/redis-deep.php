<?php
// needs: redis ext:redis
// phpredis beyond single commands.
namespace Matrix;

/** Waits on the server, as blPop() would, but also for parts of a second. */
function pause(\Redis $redis, int $ms): void
{
    $redis->rawCommand('BLPOP', unique('empty'), (string) seconds($ms));
}

matrix('subscribe with a callback that blocks', function (int $i): array {
    $channel = unique("channel_$i");
    $publisher = beside(function () use ($channel): array {
        $redis = redis();
        while ($redis->pubsub('numsub', [$channel])[$channel] < 1) {
            \usleep(5000);
        }
        return \array_map(fn(string $word) => $redis->publish($channel, $word), ['one', 'two', 'three']);
    });
    $messages = [];
    $other = redis();
    $redis = redis();
    $redis->setOption(\Redis::OPT_READ_TIMEOUT, 10);
    try {
        $redis->subscribe([$channel], function (\Redis $redis, string $from, string $message) use ($other, $channel, &$messages) {
            pause($other, 100); // the rest of them waits in the socket
            $messages[] = [$from === $channel, $other->echo($message)];
            \count($messages) === 3 and $redis->close(); // phpredis 5 does not come back after unsubscribe()
        });
    } catch (\RedisException $e) {
        $messages[] = $e->getMessage();
    }
    return [$messages, $publisher()];
}, n: 6, ms: 300);

matrix('psubscribe', function (int $i): array {
    $prefix = unique("news_$i");
    $publisher = beside(function () use ($prefix): void {
        $redis = redis();
        while ($redis->pubsub('numpat') < 1) {
            \usleep(5000);
        }
        foreach (['a', 'b', 'stop'] as $topic) {
            \usleep(ms(100) * 1000);
            while ($redis->publish("$prefix.$topic", "about $topic") < 1) {
                \usleep(5000);
            }
        }
    });
    $messages = [];
    $redis = redis();
    $redis->setOption(\Redis::OPT_READ_TIMEOUT, 10);
    try {
        $redis->psubscribe(["$prefix.*"], function (\Redis $redis, string $pattern, string $from, string $message) use ($prefix, &$messages) {
            $messages[] = [$pattern === "$prefix.*", \substr($from, \strlen($prefix)), $message];
            \str_ends_with($from, '.stop') and $redis->close();
        });
    } catch (\RedisException $e) {
        $messages[] = $e->getMessage();
    }
    $publisher();
    return $messages;
}, n: 6, ms: 300);

matrix('a pipeline of 5,000', function (int $i): array {
    $redis = redis();
    $key = unique("key_$i");
    $pipeline = $redis->pipeline();
    for ($n = 0; $n < 5000; $n++) {
        $pipeline->append($key, "$i.$n,");
    }
    $lengths = $pipeline->exec();
    return [\count($lengths), \end($lengths), \md5($redis->get($key)), $redis->del($key)];
}, n: 4, evidence: 'switch');

matrix('compression by LZF, which takes 256 KiB of stack', function (int $i): array {
    \mt_srand($i);
    $data = '';
    for ($n = 0; $n < 3000; $n++) {
        $data .= \md5((string) \mt_rand()) . \str_repeat('ab', 5);
    }
    $redis = redis();
    $redis->setOption(\Redis::OPT_COMPRESSION, \Redis::COMPRESSION_LZF);
    $key = unique("packed_$i");
    return [$redis->set($key, $data), $redis->get($key) === $data, $redis->del($key)];
}, n: 8, evidence: 'switch');

matrix('watch, multi, exec and discard', function (int $i): array {
    $redis = redis();
    $other = redis();
    $key = unique("key_$i");
    $redis->set($key, '1');
    $redis->watch($key);
    pause($other, 150);
    $other->incr($key);
    $lost = $redis->multi()->set($key, 'lost')->exec();
    $redis->watch($key);
    $value = $redis->get($key);
    pause($other, 150);
    $won = $redis->multi()->set($key, $value + $i)->get($key)->exec();
    $redis->multi()->set($key, 'never');
    return [$lost, $won, $redis->discard(), $redis->get($key), $redis->del($key)];
}, n: 6, ms: 300);

scenario('optimistic locking: no addition is lost', function (): array {
    $key = unique('counter');
    redis()->set($key, 0);
    $add = function () use ($key): int {
        $redis = redis();
        $tries = 0;
        for ($n = 0; $n < 10; $n++) {
            do {
                $redis->watch($key);
                $value = $redis->get($key);
                \usleep(1000);
                $tries++;
            } while ($redis->multi()->set($key, $value + 1)->exec() === false);
        }
        return $tries;
    };
    $others = [];
    for ($n = 0; $n < 4; $n++) {
        $others[] = beside($add);
    }
    $tries = \array_map(fn($other) => $other(), $others);
    return [redis()->get($key), \array_sum($tries) > 40, redis()->del($key)];
}, waits: 25);

matrix('brPopLPush, bzPopMin, blMove', function (int $i): array {
    $from = unique("from_$i");
    $to = unique("to_$i");
    $other = beside(function () use ($from, $i): void {
        $redis = redis();
        foreach (['a', 'b'] as $word) {
            \usleep(ms(100) * 1000);
            $redis->lPush($from, "$word $i");
        }
        \usleep(ms(100) * 1000);
        $redis->zAdd("$from.z", 3, "member $i");
    });
    $redis = redis();
    $got = [$redis->brpoplpush($from, $to, 10), $redis->rawCommand('BLMOVE', $from, $to, 'LEFT', 'RIGHT', '10'), $redis->bzPopMin(["$from.z"], 10)];
    $other();
    unset($got[2][0]); // the key
    return [$got, $redis->lRange($to, 0, -1), $redis->del($to)];
}, n: 6, ms: 300);

matrix('streams: xRead that blocks, and a group of consumers', function (int $i): array {
    $stream = unique("stream_$i");
    $redis = redis();
    $redis->xGroup('CREATE', $stream, 'group', '$', true);
    $other = beside(function () use ($stream, $i): void {
        $redis = redis();
        for ($n = 0; $n < 3; $n++) {
            \usleep(ms(100) * 1000);
            $redis->xAdd($stream, "1-$n", ['n' => $n, 'who' => "of $i"]);
        }
    });
    $read = [];
    $last = '0';
    while (\count($read) < 3) {
        foreach ($redis->xRead([$stream => $last], 10, 10_000)[$stream] as $id => $fields) {
            $read[$last = $id] = $fields;
        }
    }
    $other();
    $grouped = [];
    foreach (['first', 'second'] as $consumer) {
        $taken = redis()->xReadGroup('group', $consumer, [$stream => '>'], 2, 10)[$stream];
        $grouped[$consumer] = [$taken, $redis->xAck($stream, 'group', \array_keys($taken))];
    }
    return [$read, $grouped, $redis->xPending($stream, 'group')[0], $redis->xRead([$stream => $last], 1, ms(20)), $redis->del($stream)];
}, n: 6, ms: 300);

matrix('hScan, sScan and zScan', function (int $i): array {
    $redis = redis();
    $redis->setOption(\Redis::OPT_SCAN, \Redis::SCAN_RETRY);
    $key = unique("key_$i");
    for ($n = 0; $n < 1000; $n++) {
        $values["field $n"] = $n + $i;
    }
    $redis->hMSet("$key.h", $values);
    $redis->sAdd("$key.s", ...\array_keys($values));
    foreach (\array_chunk($values, 100, true) as $chunk) {
        foreach ($chunk as $member => $score) {
            $redis->zAdd("$key.z", $score, $member);
        }
    }
    $found = [];
    foreach (['hScan' => 'h', 'sScan' => 's', 'zScan' => 'z'] as $scan => $kind) {
        $iterator = null;
        $all = [];
        while ($some = $redis->$scan("$key.$kind", $iterator, 'field *', 50)) {
            $kind === 's' ? \array_push($all, ...$some) : $all += $some;
        }
        $found[$kind] = [\count($all), \array_sum($all)];
    }
    return [$found, $redis->del("$key.h", "$key.s", "$key.z")];
}, n: 5, evidence: 'switch');

matrix('scripts', function (int $i): array {
    $redis = redis();
    $sha = $redis->script('load', 'return {KEYS[1], ARGV[1], redis.call("incrby", KEYS[1], ARGV[1])}');
    $key = unique("key_$i");
    $first = $redis->evalSha($sha, [$key, $i], 1);
    pause($redis, 300);
    $second = $redis->evalSha($sha, [$key, 1], 1);
    $failure = $redis->eval('return redis.error_reply("ERR of ' . $i . '")');
    return [[$first[1], $first[2]], [$second[1], $second[2]], $failure, $redis->getLastError(), $redis->del($key)];
}, n: 6, ms: 300);

matrix('a persistent connection', function (int $i): array {
    $redis = new \Redis;
    $redis->pconnect(env('SPINDLE_REDIS_HOST'), (int) env('SPINDLE_REDIS_PORT'), 0, 'matrix');
    pause($redis, 50);
    return [$redis->echo("mine $i"), $redis->rawCommand('ECHO', "raw $i")];
}, n: 8, evidence: 'switch');

matrix('over a Unix socket, with a database, a prefix and a serializer', function (int $i): array {
    $redis = new \Redis;
    $redis->connect(env('SPINDLE_REDIS_SOCKET'));
    $redis->select($i % 4);
    $redis->setOption(\Redis::OPT_PREFIX, unique("prefix_$i") . ':');
    $redis->setOption(\Redis::OPT_SERIALIZER, \Redis::SERIALIZER_PHP);
    $redis->set('key', ['of' => $i, 'db' => $i % 4]);
    pause($redis, 300);
    return [$redis->get('key'), $redis->getDBNum(), $redis->del('key')];
}, n: 6, ms: 300);

matrix('a connection that the server ends', function (int $i): array {
    $redis = redis();
    $id = $redis->client('id');
    $other = beside(function () use ($id): bool {
        \usleep(ms(300) * 1000);
        return redis()->rawCommand('CLIENT', 'KILL', 'ID', (string) $id) > 0;
    });
    try {
        $answer = $redis->rawCommand('BLPOP', unique('empty'), '20');
    } catch (\RedisException $e) {
        $answer = \preg_replace('/:\d+/', '', $e->getMessage());
    }
    return [$answer, $other(), $redis->echo("connected again $i")];
}, n: 6, ms: 300);

scenario('the session handler, with its lock', function (): array {
    // sessions are the process's: another process holds the lock of this one
    $path = 'tcp://' . env('SPINDLE_REDIS_HOST') . ':' . env('SPINDLE_REDIS_PORT');
    foreach (['session.save_handler' => 'redis', 'session.save_path' => $path, 'session.use_cookies' => '0', 'session.cache_limiter' => '',
        'redis.session.locking_enabled' => '1', 'redis.session.lock_wait_time' => '5000', 'redis.session.lock_retries' => '1000'] as $name => $value) {
        \ini_set($name, $value);
    }
    $id = \str_replace('_', '-', unique('session'));
    $redis = redis();
    $redis->set("PHPREDIS_SESSION:{$id}_LOCK", 'another one', ['ex' => 20]);
    $other = beside(function () use ($id): int {
        \usleep(100_000);
        return redis()->del("PHPREDIS_SESSION:{$id}_LOCK");
    });
    \session_id($id);
    $start = \hrtime(true);
    $started = \session_start();
    $waited = (\hrtime(true) - $start) / 1e6 > 50;
    $_SESSION['name'] = 'value';
    \session_write_close();
    $_SESSION = [];
    \session_start();
    $name = $_SESSION['name'];
    return [$started, $waited, $other(), $name, \session_destroy(), $redis->exists("PHPREDIS_SESSION:$id")];
}, waits: 50);
