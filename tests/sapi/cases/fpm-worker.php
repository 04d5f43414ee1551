<?php
/** A worker of php-fpm stays healthy, whatever its requests do, and none of them meets what one before has left. */

namespace Sapi;

/** Requests that end in all ways, again and again in one worker. */
test('fpm ways to end', function() {
    $fpm = fpm(['log_errors' => '0']);
    $scripts = [
        'exit' => ['Async\spawn(fn() => Async\delay(60_000)); Async\suspend(); exit("left");', 'left'],
        'exit in a coroutine' => ['Async\spawn(function() { exit("left"); }); Async\delay(60_000);', 'left'],
        'fatal' => ['Async\spawn(fn() => Async\delay(60_000)); Async\suspend(); trigger_error("x", E_USER_ERROR);', "\nFatal error: x"],
        'fatal in a coroutine' => ['Async\spawn(fn() => undefined()); Async\delay(60_000);', "\nFatal error: Uncaught"],
        'memory' => ['Async\spawn(function() { ini_set("memory_limit", "8M"); str_repeat("x", 50_000_000); }); Async\delay(60_000);', "\nFatal error: Allowed"],
        'overflow' => ['Async\spawn(function() { $f = function() use (&$f) { return array_map($f, [1]); }; $f(); });', "\nFatal error: Maximum"],
        'pending' => ['$GLOBALS["c"] = Async\spawn(function() { Async\delay(1); echo "late"; });', 'late'],
        'session' => ['session_id("spindle"); session_start(); $_SESSION["n"] = ($_SESSION["n"] ?? 0) + 1; Async\spawn(function() { Async\delay(1); echo is_int($_SESSION["n"]) ? "counted" : "lost"; session_write_close(); });', 'counted'],
        'session handler' => [<<<'PHP'
            session_set_save_handler(new class extends SessionHandler {
                public function write(string $id, string $data): bool { Async\spawn(fn() => print("never")); Async\suspend(); return parent::write($id, $data); }
            }, false);
            session_id('handler');
            session_start();
            $_SESSION['x'] = 1;
            for ($i = 0; $i < 20; $i++) $kept[] = Async\spawn(fn() => 1);
            $GLOBALS['kept'] = $kept;
            echo 'handled';
            PHP, 'handled'],
        'plain' => ['echo "plain ", function_exists("Async\spawn") ? count(Async\getCoroutines()) : 0;', 'plain 1'],
    ];
    foreach ($scripts as $name => [$code]) {
        $paths[$name] = script(strtr($name, ' ', '-'), $code);
    }
    $connection = $fpm->connect();
    $round = function(int $n) use ($scripts, $paths, &$connection, $fpm) {
        foreach ($scripts as $name => [, $expected]) {
            $response = $connection->get($paths[$name]);
            if ($response === null) {
                throw new Failed("round $n: no answer to '$name'\n" . $fpm->log());
            }
            same($expected, substr($response->body, 0, strlen($expected)), "round $n: $name");
        }
    };
    for ($n = 0; $n < 10; $n++) {
        $round($n);
    }
    [$worker] = $fpm->workers();
    $before = figures($worker);
    for ($n = 10; $n < 60; $n++) {
        $round($n);
    }
    same([$worker], $fpm->workers(), 'the worker');
    return check_flat($before, $worker, kilobytes: 1024);
});

test('fpm uploads', function() {
    mkdir($folder = WORK . '/uploads');
    $fpm = fpm(['upload_tmp_dir' => $folder]);
    $script = script('upload', 'Async\spawn(function() { Async\delay(1); echo $_FILES["f"]["name"], " ", strlen(file_get_contents($_FILES["f"]["tmp_name"])), " ", $_POST["p"]; });');
    $body = "--x\r\nContent-Disposition: form-data; name=\"p\"\r\n\r\nposted\r\n--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.bin\"\r\n\r\n" . str_repeat('z', 300_000) . "\r\n--x--\r\n";
    for ($i = 0; $i < 50; $i++) {
        same('a.bin 300000 posted', $fpm->connect()->get($script, '', $body, ['CONTENT_TYPE' => 'multipart/form-data; boundary=x'])->body);
    }
    until('the files are removed, after the answer', fn() => glob("$folder/*") === []);
});

test('fpm settings of a request', function() {
    $fpm = fpm();
    $connection = $fpm->connect();
    $script = script('settings', 'foreach (range(1, 9) as $i) Async\spawn(fn() => print($i)); echo ini_get("async.lifetime"), " ", ini_get("async.stack_size"), " ";');
    // They stay until another request sets them.
    $settings = fn(string $lifetime, string $size, int $seed) => ['PHP_ADMIN_VALUE' => "async.lifetime=$lifetime\nasync.stack_size=$size\nasync.seed=$seed"];
    for ($i = 0; $i < 10; $i++) {
        same('scope 256K 123456789', $connection->get($script, '', '', $settings('scope', '256K', 0))->body);
        $body = $connection->get($script, '', '', $settings('top-down', '512K', 5))->body;
        check(str_starts_with($body, 'top-down 512K ') && !str_ends_with($body, '123456789'), $body);
    }
});

test('fpm timers and jobs of the request before', function() {
    $fpm = fpm();
    $connection = $fpm->connect();
    posix_mkfifo($fifo = WORK . '/fifo', 0666);
    $leaves = script('leaves', 'Async\spawn(fn() => Async\delay(30)); Async\spawn(fn() => Async\delay(40)); Async\suspend(); exit("left");');
    $job = script('job', "Async\\spawn(fn() => fopen('$fifo', 'r')); Async\\suspend(); exit('left');");
    $sleeps = script('sleeps', '$since = hrtime(true); $c = Async\spawn(fn() => Async\delay(300)); Async\await($c); echo hrtime(true) - $since >= 300_000_000 ? "slept" : "woken";');
    for ($i = 0; $i < 3; $i++) {
        same('left', $connection->get($leaves)->body);
        same('slept', $connection->get($sleeps)->body);
        same('left', $connection->get($job)->body);
        $connection->send($sleeps);
        usleep(100_000);
        // The job of the other request ends now.
        @fclose(fopen($fifo, 'r+'));
        same('slept', $connection->receive()->body, 'while a job ends');
    }
});

test('fpm fastcgi_finish_request', function() {
    $fpm = fpm();
    $mark = WORK . '/mark';
    foreach (['in main' => 'fastcgi_finish_request();', 'in a coroutine' => 'Async\await(Async\spawn(fastcgi_finish_request(...)));'] as $name => $finish) {
        @unlink($mark);
        $script = script('finish', "echo 'answer'; Async\\spawn(function() { for (\$i = 0; !file_exists('$mark.go') && \$i < 6000; \$i++) Async\\delay(10); touch('$mark'); }); Async\\suspend(); $finish echo 'lost';");
        @unlink("$mark.go");
        same('answer', $fpm->connect()->get($script)->body, $name);
        check(!file_exists($mark), "$name: the answer comes before the end of coroutines");
        touch("$mark.go");
        until("the coroutine ends, $name", fn() => file_exists($mark));
    }
    same('1', $fpm->connect()->get(script('next', 'Async\spawn(fn() => print(1));'))->body);
    same(1, count($fpm->workers()));
});

test('fpm persistent connections', function() {
    $fpm = fpm();
    $connection = $fpm->connect();
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $name = stream_socket_get_name($listener, false);
    $script = script('persistent', "Async\\spawn(function() { \$s = stream_socket_client('tcp://$name', \$c, \$e, 10, STREAM_CLIENT_CONNECT | STREAM_CLIENT_PERSISTENT); fwrite(\$s, \"asked\\n\"); echo fgets(\$s); });");
    $peer = null;
    for ($i = 0; $i < 5; $i++) {
        $connection->send($script);
        $peer ??= stream_socket_accept($listener, 10);
        same("asked\n", fgets($peer), "request $i");
        usleep(20_000); // it waits by now, most likely
        fwrite($peer, "answer $i\n");
        same("answer $i\n", $connection->receive()->body);
    }
});

test('fpm max_execution_time', function() {
    $fpm = fpm();
    $connection = $fpm->connect();
    $script = script('endless', 'set_time_limit(1); Async\spawn(fn() => Async\delay(60_000)); Async\spawn(function() { while (true); }); Async\suspend();');
    $next = script('healthy', 'Async\spawn(fn() => print("healthy"));');
    $connection->get($next);
    $workers = $fpm->workers();
    for ($i = 0; $i < 2; $i++) {
        check(str_contains((string) $connection->get($script)?->body, 'Maximum execution time of 1 second exceeded'), 'it ends');
        same('healthy', $connection->get($next)?->body);
    }
    same($workers, $fpm->workers(), 'the worker');
});

test('fpm clients that go away', function() {
    $fpm = fpm();
    $ended = WORK . '/ended';
    $next = script('healthy', 'Async\spawn(fn() => print("healthy"));');
    $fpm->connect()->get($next);
    $workers = $fpm->workers();
    $script = script('writes', "register_shutdown_function(fn() => touch('$ended')); Async\\spawn(function() { while (true) { echo str_repeat('x', 10_000); flush(); Async\\delay(1); } }); Async\\delay(600_000);");
    for ($i = 0; $i < 3; $i++) {
        @unlink($ended);
        $connection = $fpm->connect();
        $connection->send($script);
        usleep(50_000);
        unset($connection);
        until('the request ends', fn() => file_exists($ended));
        same('healthy', $fpm->connect()->get($next)->body);
    }
    same($workers, $fpm->workers(), 'the worker');
});

test('fpm graceful reload', function() {
    $fpm = fpm(pool: ['request_terminate_timeout' => '60s']);
    $go = WORK . '/go';
    $connection = $fpm->connect();
    $script = script('reloads', "Async\\spawn(function() { for (\$i = 0; !file_exists('$go') && \$i < 6000; \$i++) Async\\delay(10); echo 'done'; });");
    $next = script('healthy', 'Async\spawn(fn() => print("healthy"));');
    same('healthy', $connection->get($next)->body);
    [$before] = $fpm->workers();
    $connection->send($script);
    usleep(100_000);
    posix_kill($fpm->master(), SIGUSR2);
    usleep(100_000);
    touch($go);
    same('done', $connection->receive()?->body, 'the request that was running');
    unset($connection);
    until('another worker', fn() => $fpm->workers() !== [] && !in_array($before, $fpm->workers(), true));
    same('healthy', $fpm->connect()->get($next)->body, 'the next one');
});

test('fpm workers of a master that has had coroutines', function() {
    $ini = ['zend_extension' => 'opcache', 'opcache.preload' => script('preload', 'echo Async\await(Async\spawn(function() { Async\delay(1); return gethostbyname("localhost"); }));'),
        'opcache.preload_user' => posix_getpwuid(posix_getuid())['name']];
    $fpm = fpm($ini, ['pm.max_children' => '2']);
    $script = script('forked', '$c = Async\spawn(gethostbyname(...), "localhost"); Async\spawn(fn() => Async\delay(5)); echo Async\await($c);');
    [$one, $other] = [$fpm->connect(), $fpm->connect()];
    for ($i = 0; $i < 50; $i++) {
        $one->send($script);
        $other->send($script);
        same(['127.0.0.1', '127.0.0.1'], [$one->receive()?->body, $other->receive()?->body], "request $i");
        if ($i === 10) {
            $before = array_map(figures(...), $fpm->workers());
        }
    }
    foreach ($fpm->workers() as $i => $worker) {
        check_flat($before[$i], $worker);
    }
});

test('fpm a stream with two readers, compiled', function() {
    $fpm = fpm(['zend_extension' => 'opcache', 'opcache.jit' => 'function', 'opcache.jit_buffer_size' => '32M', 'opcache.file_update_protection' => '0']);
    $script = script('readers', <<<'PHP'
        function reads($stream) { return fgets($stream); }
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $readers = [Async\spawn(reads(...), $pair[0]), Async\spawn(reads(...), $pair[0])];
        Async\spawn(function() use ($pair) {
            // The second line is read with the first, by who waits for that.
            foreach (['on', "e\ntwo\n"] as $text) {
                Async\delay(2);
                fwrite($pair[1], $text);
            }
        });
        foreach ($readers as $reader) {
            echo Async\await($reader, Async\timeout(10_000));
        }
        PHP);
    $connection = $fpm->connect();
    same('1', $connection->get(script('compiled', 'echo (int) opcache_get_status()["jit"]["on"];'))->body, 'the compiler is on');
    for ($i = 0; $i < 5; $i++) {
        same("one\ntwo\n", $connection->get($script)->body, "request $i");
    }
});
