<?php
/*
 * The HTTP server under strain: clients that leave, that are slow, idle, and that are too many; large bodies; and requests in worker
 * mode that use all which is each one's own, all at once. Without --long each case is as small as to take some seconds, and only what
 * must hold on any machine fails: answers, and what is left. With --long there are as many clients and bytes as docs/server.md speaks of,
 * and times and memory have limits, too, which a busy machine may miss.
 */

declare(strict_types=1);

namespace ServerTests;

$cases['clients that leave'] = function (): string {
    $app = App::of();
    $app->clients('leave', 100);
    $before = $app->stats();
    $memory = $app->memory('VmRSS');
    $found = $app->clients('leave', $clients = LONG ? 10_000 : 300);
    same($clients, $found['cancelled']);
    $after = $app->stats();
    foreach (['descriptors', 'coroutines', 'connections', 'running'] as $what) same($before[$what], $after[$what]);
    same($after['begun'], $after['ended']);
    $grown = $app->memory('VmRSS') - $memory;
    $grown < 4096 || throw new \Exception("grown by $grown KiB");
    limit($found['median'] <= 10, "cancelled after $found[median] ms");
    return "$clients cancelled after $found[median] ms, 99% in $found[p99] ms, grown by $grown KiB";
};
$cases['slow clients'] = function (): string {
    [$heads, $bodies] = LONG ? [10_000, 1000] : [500, 50];
    $app = App::of(['max_connections' => 20_000, 'max_concurrency' => 2000, 'header_timeout' => LONG ? 60 : 10]);
    // The best of several times, as whatever else runs here makes some of them longer.
    $measure = fn() => min(array_map(fn() => $app->clients('hello', LONG ? 500 : 50)['p99'], range(1, LONG ? 12 : 4)));
    $app->clients('hello', 100);
    $before = $measure();
    $slow = proc_open([...php(), HERE . '/strain-client.php', $app->address, 'slow', "$heads", "$bodies"], [['pipe', 'r'], ['pipe', 'w'], ['file', WORK . '/stderr', 'a']], $pipes);
    same("there\n", fgets($pipes[1]));
    $during = $measure();
    fwrite($pipes[0], "over\n");
    $found = json_decode(stream_get_contents($pipes[1]), true);
    proc_close($slow);
    same([$bodies + 1, 1], [$found['running'], $found['after']]);
    // One millisecond is what a machine is late by at any time.
    limit($during <= 2 * max($before, 1), "answered in $during ms instead of $before");
    return "$heads slow heads, $bodies slow bodies: others answered in $during ms (99%, the best of several times), in $before ms before";
};
$cases['too many requests'] = function (): string {
    [$places, $seconds] = [16, LONG ? 10 : 3];
    $app = App::of(['max_concurrency' => $places, 'queue_timeout' => 0.5]);
    // Each takes 100 ms.
    $capacity = $places * 10;
    $found = $app->clients('rate', 4 * $capacity, $seconds);
    same([], $found['other']);
    same(4 * $capacity * $seconds, $found['answered'] + $found['refused']);
    same(0, $app->stats()['queued']);
    // Also after the last has come, the queue is worked off.
    $goodput = round($found['answered'] / ($capacity * $found['seconds']), 2);
    $goodput >= 0.5 || throw new \Exception("only $goodput of what could be answered: " . json_encode($found));
    limit($goodput >= 0.9, "$goodput of what could be answered");
    limit($found['median of these'] <= 20, 'refused after ' . $found['median of these'] . ' ms');
    limit($found['p99'] <= 800, "answered in $found[p99] ms");
    return "$found[answered] answered ($goodput of what is possible) in $found[p99] ms (99%), $found[refused] refused in {$found['median of these']} ms, 99% in {$found['p99 of these']} ms";
};
$cases['a large upload'] = function (): string {
    $app = App::of(['max_body_size' => 4 << 30]);
    $size = LONG ? 2 << 30 : 128 << 20;
    $send = function (int $size) use ($app): void {
        same("$size", (string) shell_exec("head -c $size /dev/zero | curl -s -T - -X POST -H Expect: http://$app->address/upload"));
    };
    $send(16 << 20);
    $grown = $app->growth(fn() => $send($size));
    $grown <= 4096 || throw new \Exception("grown by $grown KiB");
    return ($size >> 20) . " MiB, grown by $grown KiB";
};
$cases['a download by a slow client'] = function (): string {
    $app = App::of();
    $read = fn(int $seconds) => (int) shell_exec("curl -s --max-time $seconds --limit-rate 4M -o /dev/null -w '%{size_download}' http://$app->address/download");
    $read(1);
    $grown = $app->growth(function () use ($read): void { $read(LONG ? 20 : 3) > 1 << 20 || throw new \Exception('nothing comes'); });
    $grown <= 4096 || throw new \Exception("grown by $grown KiB");
    until(fn() => $app->stats()['running'] === 1);
    return "grown by $grown KiB";
};
// What is right and what is wrong is in hostile-client.php.
$cases['hostile clients'] = function (): string {
    $told = [];
    foreach (['objects', 'worker'] as $mode) {
        $app = new App('hostile', [$mode]);
        $run = function (int $first, string $limit) use ($app): array {
            $command = ['timeout', '1500', ...php('extension=sockets'), HERE . '/hostile-client.php', $app->address, SEEDS ?: (string) mt_rand(), '16', $limit, "$first"];
            exec(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1', $lines);
            $found = json_decode(end($lines) ?: '', true) ?? throw new \Exception('the clients: ' . substr(implode("\n", $lines), 0, 1000));
            same([], $found['wrong']);
            return $found;
        };
        $settle = function () use ($app): array {
            until(function () use ($app, &$stats) {
                $stats = $app->stats();
                return $stats['running'] === 1 && $stats['connections'] === 1; // this one
            });
            return $stats;
        };
        $run(0, '500x');
        [$before, $memory] = [$settle(), $app->memory('VmRSS')];
        $found = $run(500, LONG ? '600' : '500x');
        $after = $settle();
        same([], $after['wrong']);
        foreach (['descriptors', 'coroutines'] as $what) same($before[$what], $after[$what]);
        $grown = $app->memory('VmRSS') - $memory;
        $grown < 8192 || throw new \Exception("grown by $grown KiB");
        same('', $app->rest());
        $told[] = "$mode: $found[connections] connections, " . $after['handled'] - $before['handled'] . " requests, grown by $grown KiB";
    }
    return implode('; ', $told);
};
// What flood-client.php sends: the error code with which HTTP/2 is closed, the status with which HTTP/1.1 or a WebSocket is, or null
// where all that is sent is allowed, and whether it is tried without --long.
$cases['floods'] = function (): string {
    $floods = [
        'resets' => [11, true],
        'resets by the server' => [1, false],
        'resets of uploads' => [11, false],
        'windows beyond the limit' => [11, true],
        'a window beyond the limit' => [3, false],
        'streams beyond the limit' => [11, false],
        'heads without end' => [11, true],
        'empty continuations' => [11, false],
        'pings' => [null, true],
        'pings unread' => [null, false],
        'settings' => [null, false],
        'settings unread' => [null, false],
        'windows of all streams' => [null, false],
        'unknown frames' => [null, true],
        'priorities' => [null, false],
        'streams that depend on themselves' => [11, false],
        'small windows' => [null, false],
        'empty data' => [11, true],
        'empty data of a stream that is over' => [11, false],
        'padding' => [11, false],
        'small data' => [11, true],
        'a large line again and again' => [11, true],
        'many small lines' => [null, true],
        'a large table' => [null, false],
        'long trailers' => [null, false],
        'trailers without end' => [11, false],
        'downloads with closed windows' => [null, true],
        'whole bodies with closed windows' => [null, false],
        'downloads unread' => [null, false],
        'whole bodies unread' => [null, false],
        'uploads that do not come' => [null, false],
        'refused uploads that do not come' => [11, false],
        'pipelined requests unread' => [null, true],
        'pipelined large responses unread' => [null, false],
        'pipelined requests' => [null, false],
        'empty lines' => [431, false],
        'one long line' => [431, false],
        'headers without end' => [431, false],
        'small chunks' => [null, true],
        'small chunks that nobody reads' => [null, false],
        'chunks with extensions' => [400, false],
        'an extension without end' => [400, false],
        'long size of a chunk' => [null, false],
        'long trailers of chunks' => [400, false],
        'fragments without end' => [1009, false],
        'websocket pings' => [null, false],
        'websocket pings unread' => [null, true],
        'websocket pongs' => [null, false],
        'websocket messages unread' => [null, false],
        'compressed messages' => [1002, false],
    ];
    // 128 responses of 1 MiB, or as much as the buffers of as many streams may have.
    $large = ['downloads with closed windows', 'whole bodies with closed windows', 'downloads unread', 'whole bodies unread'];
    $client = static fn(string $kind, string $address = '-') => [PHP_BINARY, '-n', '-d', 'memory_limit=-1', HERE . '/flood-client.php', $address, $kind];
    same(array_keys($floods), explode("\n", trim((string) shell_exec(implode(' ', array_map(escapeshellarg(...), $client('list')))))));
    $worst = ['', 0];
    $slowest = ['', 0];
    $count = 0;
    foreach ($floods as $kind => [$end, $is_short]) {
        if (!$is_short && !LONG) continue;
        try {
            $app = App::of(['request_timeout' => 5, 'body_timeout' => 5, 'write_timeout' => 5]);
            $app->clients('hello', 20);
            $before = $app->stats();
            $grown = $app->growth(function () use ($app, $client, $kind, $end, &$p99): void {
                $process = proc_open($client($kind, $app->address), [['pipe', 'r'], ['pipe', 'w'], ['file', WORK . '/stderr', 'a']], $pipes);
                same("there\n", fgets($pipes[1]));
                $p99 = $app->clients('hello', 20)['p99'];
                fwrite($pipes[0], "over\n");
                $found = json_decode((string) stream_get_contents($pipes[1]), true) ?? throw new \Exception('the client has failed');
                proc_close($process);
                $found['closed'] === ($end !== null) || throw new \Exception(json_encode($found));
                $end === null || in_array($end, [$found['goaway'] ?? null, $found['status'] ?? null], true) || throw new \Exception(json_encode($found));
            });
            until(function () use ($app, &$stats) {
                $stats = $app->stats();
                return $stats['running'] === 1 && $stats['connections'] === 1;
            });
            foreach (['descriptors', 'coroutines'] as $what) same($before[$what], $stats[$what]);
            $most = (in_array($kind, $large, true) ? 192 : 8) << 10;
            $grown <= $most || throw new \Exception("grown by $grown KiB");
            limit($p99 <= 200, "others are answered in $p99 ms");
            same('', $app->rest());
        } catch (\Exception $e) {
            throw new \Exception("$kind: {$e->getMessage()}");
        }
        if ($grown > $worst[1] && !in_array($kind, $large, true)) $worst = [$kind, $grown];
        if ($p99 > $slowest[1]) $slowest = [$kind, $p99];
        $count++;
    }
    return "$count kinds, grown by $worst[1] KiB at most ($worst[0]), others answered in $slowest[1] ms at most (99%, $slowest[0])";
};
$cases['requests in worker mode'] = function (): string {
    $told = [];
    foreach (array_map(intval(...), explode(' ', SEEDS ?: (LONG ? '1 2 3' : '1 ' . mt_rand(2, 1 << 30)))) as $seed) {
        $folder = WORK . "/sessions$seed";
        mkdir($folder);
        // Half of the descriptors of a process are for connections, and a third of the requests has a session's file open.
        $requests = LONG ? min(10_000, intdiv((int) shell_exec('ulimit -n') * 2, 3)) : 500;
        $app = new App('canaries', ["$requests", $folder], ["async.seed=$seed", 'async.request_statics=Kept::n,Kept::list']);
        // Those that come later begin at once: as many as wait in the kernel's queue while others run.
        $later = min($requests, 2000);
        foreach ([10_000 => $requests, 40_000 => $later] as $first => $count) {
            same([], $app->clients('canaries', $count, $first));
        }
        same($requests + $later . " done, $requests at once, 0 left", $app->rest());
        shell_exec('rm -rf ' . escapeshellarg($folder));
        $told[] = "$requests at once with the seed $seed";
    }
    return implode(', ', $told);
};

$cases['idle connections'] = function (): string {
    $files = [WORK . '/idle.pem', WORK . '/idle.key'];
    exec("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test -keyout $files[1] -out $files[0] 2>&1");
    // A handshake takes the clients and an emulated processor long.
    [$plain, $encrypted] = LONG ? [50_000, 5000] : [2000, 300];
    $commands = [];
    foreach (["$plain", "$encrypted $files[0] $files[1]"] as $arguments) {
        $commands[] = implode(' ', array_map(escapeshellarg(...), [...php(), HERE . '/idle.php'])) . " $arguments 2>&1";
    }
    if ((int) shell_exec('ulimit -Hn') > $plain + 100) {
        $where = '';
        $printed = (string) shell_exec('ulimit -n ' . $plain + 100 . '; ' . implode('; ', $commands));
    } else {
        $where = ' in a virtual machine';
        $missing = noMachine();
        $missing === null || throw new \Runner\Skipped("this system allows no $plain descriptors, and of a virtual machine $missing");
        $printed = inMachine(implode("\n", $commands), [PHP_BINARY, EXTENSION, HERE . '/idle.php', ...$files], 4, 3600);
    }
    preg_match_all('/^\{.*}/m', $printed, $found);
    $found = array_map(static fn(string $line): array => json_decode($line, true), $found[0]);
    count($found) === 2 || throw new \Exception("no figures: $printed");
    foreach ([[$plain, 4_000], [$encrypted, 22_000]] as $i => [$connections, $most]) {
        same($connections, $found[$i]['connections']);
        limit(max($found[$i]['bytes'], $found[$i]['bytes, second round']) <= $most, json_encode($found[$i]));
        // In the second round malloc's pieces fit less well than in the first; what grows after it is lost.
        $grown = $found[$i]['asked again, third round'] - $found[$i]['asked again, second round'];
        limit($grown <= 200, "grown by $grown bytes for each connection from one round to the next: " . json_encode($found[$i]));
    }
    return "$plain with {$found[0]['bytes']} bytes each ({$found[0]['bytes, second round']} after as many have left), $encrypted with TLS with {$found[1]['bytes']} ({$found[1]['bytes, second round']})$where";
};
