<?php
/** Many requests to one worker of php-fpm: nothing of a request stays. */

namespace Sapi;

test('fpm many spawning requests', function() {
    $fpm = fpm();
    $connection = $fpm->connect();
    $script = script('spawning', <<<'PHP'
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $reader = Async\spawn(fn() => fgets($pair[0]));
        Async\spawn(function() use ($pair) { Async\delay(0); fwrite($pair[1], "read\n"); });
        echo Async\await($reader), count(scandir('/proc/self/fd')) > 0 ? '' : 'never';
        PHP);
    for ($i = 0; $i < 200; $i++) {
        same("read\n", $connection->get($script)->body);
    }
    [$worker] = $fpm->workers();
    $before = figures($worker);
    $since = hrtime(true);
    for ($i = 0; $i < REQUESTS; $i++) {
        same("read\n", $connection->get($script)?->body, "request $i");
    }
    $rate = REQUESTS / ((hrtime(true) - $since) / 1e9);
    same([$worker], $fpm->workers(), 'the worker');
    return sprintf('%d requests, %.0f/s, %s', REQUESTS, $rate, check_flat($before, $worker));
});

test('fpm look-ups of names', function() {
    $fpm = fpm();
    $connection = $fpm->connect();
    $script = script('names', 'foreach ([1, 2, 3] as $i) $all[] = Async\spawn(gethostbyname(...), "localhost"); foreach ($all as $one) echo Async\await($one), " ";');
    for ($i = 0; $i < 20; $i++) {
        $connection->get($script);
    }
    [$worker] = $fpm->workers();
    $before = figures($worker);
    for ($i = 0; $i < REQUESTS / 4; $i++) {
        same('127.0.0.1 127.0.0.1 127.0.0.1 ', $connection->get($script)?->body, "request $i");
    }
    return check_flat($before, $worker);
});

test('fpm many coroutines in one request', function() {
    $fpm = fpm(['memory_limit' => '-1']);
    $connection = $fpm->connect();
    $few = script('few', 'Async\spawn(fn() => print("few"));');
    $many = script('many', 'for ($i = 0; $i < 5000; $i++) Async\spawn(fn() => Async\delay(20)); echo "many";');
    $connection->get($few);
    $connection->get($many);
    $connection->get($few);
    [$worker] = $fpm->workers();
    $before = figures($worker);
    for ($i = 0; $i < 5; $i++) {
        same('many', $connection->get($many)->body);
        same('few', $connection->get($few)->body);
    }
    return check_flat($before, $worker, kilobytes: 8192);
});

test('fpm what a request costs', function() {
    $fpm = fpm();
    $connection = $fpm->connect();
    $plain = script('plain', 'echo "plain";');
    $spawns = script('spawns', 'echo Async\await(Async\spawn(fn() => "spawned"));');
    $first = script('first', '$since = hrtime(true); Async\spawn(fn() => 1); echo (hrtime(true) - $since) / 1000;');
    $connection->get($plain);
    $connection->get($plain);
    [$worker] = $fpm->workers();
    $calls = fn(string $script) => traced($worker, fn() => $connection->get($script));
    $before = $calls($plain);
    $connection->get($spawns);
    $connection->get($spawns);
    $told = '';
    if ($before === null) {
        $told = ' (system calls are not looked at: nothing can be traced here)';
    } else {
        same($before, $calls($plain), 'system calls of a request without coroutines');
        $during = $calls($spawns);
        $forbidden = ['mprotect', 'clone', 'clone3', 'eventfd2', 'epoll_create1', 'epoll_ctl', 'openat', 'mmap', 'munmap', 'fcntl'];
        $more = array_diff_assoc(array_count_values($during), array_count_values($before));
        same([], array_values(array_intersect(array_keys($more), $forbidden)), 'calls that are for the first request only');
        $told = sprintf(', %d system calls more', count($during) - count($before));
    }
    for ($i = 0; $i < 50; $i++) {
        $times[] = (float) $connection->get($first)->body;
    }
    sort($times);
    return sprintf('the first spawn %.1f us in the median', $times[25]) . $told;
});

test('fpm several workers', function() {
    $fpm = fpm(pool: ['pm.max_children' => '4']);
    $script = script('id', 'echo Async\await(Async\spawn(function() { Async\delay(1); return getmypid() . " " . $_GET["n"]; }));');
    $connections = array_map(fn() => $fpm->connect(), range(1, 4));
    for ($round = 0; $round < 100; $round++) {
        foreach ($connections as $n => $connection) {
            $connection->send($script, "n=$round.$n");
        }
        foreach ($connections as $n => $connection) {
            [$pid, $answer] = explode(' ', $connection->receive()->body);
            same("$round.$n", $answer);
            $pids[$pid] = true;
        }
        if ($round === 10) {
            $before = array_map(figures(...), $fpm->workers());
        }
    }
    same(4, count($pids), 'workers');
    foreach ($fpm->workers() as $i => $worker) {
        check_flat($before[$i], $worker);
    }
});
