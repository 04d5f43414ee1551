<?php
// needs: mariadb redis peer http2 ext:mysqli ext:pdo_mysql ext:pdo_sqlite ext:sqlite3 ext:redis ext:curl file:/usr/share/php/Predis/autoload.php file:/usr/share/php/GuzzleHttp/autoload.php
// The state of a handle after a call on it was cancelled: it works, or it fails; it never gives what another call asked for.
namespace Matrix;

use Async;

require '/usr/share/php/Predis/autoload.php';
require '/usr/share/php/GuzzleHttp/autoload.php';

$row = fn(\mysqli_result $result) => $result->fetch_row()[0];
foreach ([
    'in the middle of waiting' => "select 'WRONG', sleep(1)",
    'in the middle of a result' => "select 'WRONG', seq, sleep(0.001) from seq_1_to_1000",
] as $when => $query) {
    after_cancellation("mysqli, $when", mysqli(...), fn($db) => $db->query($query), fn($db) => $row($db->query("select 'right'")));
    after_cancellation("mysqli, unbuffered, $when", mysqli(...), function ($db) use ($query): void {
        $result = $db->query($query, MYSQLI_USE_RESULT);
        while ($result->fetch_row()) {
        }
    }, fn($db) => $row($db->query("select 'right'")));
    after_cancellation("mysqli, prepared, $when", mysqli(...), fn($db) => $db->execute_query($query), fn($db) => $row($db->execute_query("select 'right'")));
    foreach ([true, false] as $emulate) {
        after_cancellation('PDO-mysql, ' . ($emulate ? 'emulated' : 'native') . ", $when", fn() => pdo_mysql([\PDO::ATTR_EMULATE_PREPARES => $emulate]),
            fn($db) => $db->query($query), fn($db) => $db->query("select 'right'")->fetchColumn());
    }
}
after_cancellation('mysqli, in the middle of a big query', mysqli(...), function ($db): void {
    $owner = mysqli();
    $owner->query('create table if not exists big_query (data longblob)');
    $owner->query('lock tables big_query write');
    $db->query("insert into big_query values ('" . \str_repeat('WRONG', 3_000_000) . "')");
}, fn($db) => $row($db->query("select 'right'")));
after_cancellation('mysqli, in the middle of a multi query', mysqli(...), function ($db): void {
    $db->multi_query("select 'WRONG'; select sleep(1); select 'WRONG'");
    do {
        $db->store_result();
    } while ($db->next_result());
}, fn($db) => $row($db->query("select 'right'")));
after_cancellation('mysqli, in mysqli_poll', mysqli(...), function ($db): void {
    $db->query("select 'WRONG', sleep(1)", MYSQLI_ASYNC);
    $read = $error = $reject = [$db];
    \mysqli_poll($read, $error, $reject, 10);
}, fn($db) => $row($db->query("select 'right'")));

with_coroutines('in the middle of an answer that is there', function (Check $check) use ($row): void {
    $ways = [
        'mysqli' => [mysqli(...), fn($db) => $db->query("select seq, repeat('WRONG', 200) from seq_1_to_30000"), fn($db) => $row($db->query("select 'right'"))],
        'PDO-mysql' => [fn() => pdo_mysql(), fn($db) => $db->query("select seq, repeat('WRONG', 200) from seq_1_to_30000"), fn($db) => $db->query("select 'right'")->fetchColumn()],
        'phpredis' => [redis(...), fn($redis) => $redis->eval("local t = {} for i = 1, 30000 do t[i] = string.rep('WRONG', 200) end return t"), fn($redis) => $redis->echo('right')],
    ];
    foreach ($ways as $name => [$connect, $asks, $asks_again]) {
        // Until one was seen that has yielded: it is suspended, and waits for nothing. Where the server is slower than the
        // client, a call may have to wait for each part of its answer.
        do {
            $handle = $connect();
            $job = Async\spawn($asks, $handle);
            do {
                Async\suspend();
                $was_seen = $job->isSuspended() && $job->getAwaitingInfo() === [];
            } while (!$job->isCompleted() && !$was_seen);
        } while (!$was_seen);
        $job->cancel();
        try {
            finished($job);
        } catch (Async\CancellationException) {
        }
        try {
            $answer = $asks_again($handle);
        } catch (\Exception) {
            $answer = 'an error';
        }
        if (!\in_array($answer, ['right', 'an error'], true)) {
            $check->problem("$name answers " . \json_encode($answer));
        }
    }
});

$slow = "local t = redis.call('time'); local stop = t[1] * 1000000 + t[2] + 1000000; repeat t = redis.call('time') until t[1] * 1000000 + t[2] > stop; return 'WRONG'";
after_cancellation('phpredis, a blocking pop', redis(...), fn($redis) => $redis->blPop([unique('empty')], 1), fn($redis) => $redis->echo('right'));
after_cancellation('phpredis, a slow script', redis(...), fn($redis) => $redis->eval($slow), fn($redis) => $redis->echo('right'));
after_cancellation('phpredis, a pipeline', redis(...), fn($redis) => $redis->pipeline()->echo('WRONG')->eval($slow)->echo('WRONG')->exec(),
    fn($redis) => $redis->getMode() === \Redis::ATOMIC ? $redis->echo('right') : $redis->discard());
after_cancellation('phpredis, a transaction', redis(...), fn($redis) => $redis->multi()->echo('WRONG')->eval($slow)->echo('WRONG')->exec(),
    fn($redis) => $redis->getMode() === \Redis::ATOMIC ? $redis->echo('right') : $redis->discard());
$half = function (): \Redis {
    $server = \stream_socket_server('tcp://127.0.0.1:0');
    Async\spawn(static function () use ($server): void {
        // The first one gets the half of an answer, the next one all.
        foreach (["\$1000\r\nWRONG", "\$5\r\nright\r\n"] as $answer) {
            $client = \stream_socket_accept($server, 20);
            for ($line = 0; $line < 5; $line++) {
                \fgets($client);
            }
            \fwrite($client, $answer);
            $clients[] = $client;
        }
        \fgets($client);
    });
    $redis = new \Redis;
    $redis->connect('127.0.0.1', (int) \substr(\strrchr(\stream_socket_get_name($server, false), ':'), 1));
    return $redis;
};
after_cancellation('phpredis, in the middle of an answer', $half, fn($redis) => $redis->echo('WRONG'), fn($redis) => $redis->echo('right'));
$predis = fn() => new \Predis\Client(['host' => env('SPINDLE_REDIS_HOST'), 'port' => env('SPINDLE_REDIS_PORT')]);
after_cancellation('Predis, a slow script', $predis, fn($client) => $client->eval($slow, 0), fn($client) => $client->echo('right'));

$answer = function (\CurlHandle $curl, string $url): string|bool {
    \curl_setopt($curl, CURLOPT_URL, $url);
    return \curl_exec($curl);
};
$http2 = fn(string $path) => 'https://localhost:' . env('MATRIX_HTTP2_PORT') . $path;
foreach (['http' => http(...), 'https' => https(...), 'HTTP/2' => $http2] as $kind => $url) {
    after_cancellation("cURL, $kind", fn() => curl($url('/0/first')), function ($curl) use ($answer, $url): void {
        \curl_exec($curl);
        $answer($curl, $url('/1000/WRONG'));
    }, fn($curl) => $answer($curl, $url('/1/right')));
}
after_cancellation('Guzzle', fn() => new \GuzzleHttp\Client, fn($client) => $client->get(http('/1000/WRONG')),
    fn($client) => (string) $client->get(http('/1/right'))->getBody());

$read = function ($stream, string $question): string|bool {
    \fwrite($stream, $question);
    return \trim((string) \fgets($stream)) ?: false;
};
foreach (['tcp', 'tls', 'unix'] as $transport) {
    after_cancellation("a stream, $transport", fn() => line_client($transport), fn($stream) => $read($stream, "1000 WRONG\n"), fn($stream) => $read($stream, "1 right\n"));
}

after_cancellation('SQLite, in a function', function (): \PDO {
    $db = new \PDO('sqlite:' . scratch('db'));
    $db->sqliteCreateFunction('slow', function (): string {
        \usleep(1_000_000);
        return 'WRONG';
    });
    $db->exec('create table t (word text)');
    return $db;
}, fn($db) => $db->exec('insert into t select slow()'), fn($db) => $db->query("select 'right' from (select count(*) as n from t) where n = 0")->fetchColumn());
after_cancellation('SQLite3, waiting for a lock', function (): \SQLite3 {
    $db = new \SQLite3($file = scratch('db'));
    $db->exec('create table t (word text)');
    $db->busyTimeout(5000);
    static $owners = [];
    $owners[] = $owner = new \SQLite3($file);
    $owner->exec('begin immediate');
    return $db;
}, fn($db) => $db->exec("insert into t values ('WRONG')"), fn($db) => $db->querySingle("select 'right' from (select count(*) as n from t) where n = 0"));

with_coroutines('a curl_multi goes on after a cancelled curl_multi_select', function (Check $check): void {
    $multi = \curl_multi_init();
    $handles = [];
    foreach ([100, 3000] as $ms) {
        \curl_multi_add_handle($multi, $handles[] = curl(http("/$ms/after$ms")));
    }
    $run = function () use ($multi): void {
        do {
            \curl_multi_exec($multi, $running);
            $running && \curl_multi_select($multi, 5);
        } while ($running);
    };
    $first = Async\spawn($run);
    while (\curl_multi_getcontent($handles[0]) !== 'after100') {
        Async\delay(TICK);
    }
    $first->cancel();
    try {
        finished($first);
        $check->problem('it was not cancelled');
    } catch (Async\CancellationException) {
    }
    finished(Async\spawn($run));
    $bodies = \array_map(\curl_multi_getcontent(...), $handles);
    $bodies === ['after100', 'after3000'] or $check->problem('they have ' . \json_encode($bodies));
});

with_coroutines('an SQLite transaction of a cancelled coroutine is rolled back', function (Check $check): void {
    $file = scratch('db');
    $work = Async\spawn(function () use ($file): void {
        $db = new \PDO("sqlite:$file");
        $db->exec('create table t (n int)');
        $db->beginTransaction();
        $db->exec('insert into t values (1)');
        \usleep(600_000_000);
    });
    in_the_middle($work);
    $work->cancel();
    try {
        finished($work);
    } catch (Async\CancellationException) {
    }
    unset($work);
    $db = new \PDO("sqlite:$file", null, null, [\PDO::ATTR_TIMEOUT => 1]);
    $db->exec('insert into t values (2)');
    $rows = $db->query('select n from t')->fetchAll(\PDO::FETCH_COLUMN);
    $rows === [2] or $check->problem('there is ' . \json_encode($rows));
});
