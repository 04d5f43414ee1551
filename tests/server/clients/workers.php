<?php
/*
 * `spindle serve --workers`: many processes behind the same sockets (PROC-1), and what replaces them (PROC-3).
 */

declare(strict_types=1);

namespace ServerTests;

/**
 * The numbers of the workers that serve, when there are this many.
 *
 * @return list<string>
 */
function workers(Serving $serve, int $count, array $without = []): array
{
    $answers = [];
    until(function () use ($serve, $count, $without, &$answers) {
        $pid = serving($serve);
        ctype_digit($pid) || throw new \Exception("no worker answers: $pid " . $serve->errors());
        in_array($pid, $without, true) || $answers[$pid] = true;
        $answers = array_filter($answers, fn($pid) => file_exists("/proc/$pid"), ARRAY_FILTER_USE_KEY);
        return count($answers) >= $count;
    });
    return array_map(strval(...), array_keys($answers));
}

/** Whether a process is there, and is no zombie. */
function lives(string $pid): bool
{
    return preg_match('~^\d+ \(.*\) [^ZX]~', (string) @file_get_contents("/proc/$pid/stat")) === 1;
}
$cases['serve: the crash of a worker costs its own requests only'] = function () {
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker', '--workers', '3');
    same(true, str_contains($serve->errors(), '(worker mode, 3 workers)'));
    $all = workers($serve, 3);
    foreach ([SIGKILL, SIGSEGV] as $signal) {
        $wait = begin($serve, '/wait');
        $waits = file_get_contents(WORK . '/begun');
        // Those beside the one that has the request.
        foreach (array_slice(array_diff($all, [$waits]), 0, 2) as $victim) {
            posix_kill((int) $victim, $signal);
            until(fn() => !lives($victim));
            until(fn() => preg_match("~^spindle: worker [123] was ended by signal $signal: starting it again\$~m", $serve->errors()));
        }
        same(true, lives($waits));
        touch(WORK . '/go');
        same('waited 200', stream_get_contents($wait));
        $all = workers($serve, 3);
        same(true, in_array($waits, $all, true));
    }
    $serve->signal();
    same(0, $serve->end());
    same([], array_filter($all, lives(...)));
};
$cases['serve: workers in all modes, with files, TLS and Unix sockets'] = function () {
    @mkdir(WORK . '/public');
    file_put_contents(WORK . '/public/a.txt', 'the file');
    $handler = app('pid-handler.php', 'return fn() => (string) getmypid();');
    $worker = app('operated.php', OPERATED);
    $application = app('pid-application.php', 'return fn() => function () { echo getmypid(); };');
    foreach ([[$handler], ['--tls', 'one.pem,one.key', $handler], ['--mode', 'worker', $worker], ['--mode', 'application', '--instances', '2', $application],
        ['--listen', 'unix:' . WORK . '/workers.sock', $handler], ['--reuse-port', $handler]] as $arguments) {
        $serve = new Serving('--workers', '2', '--files', 'public', '--log', 'json', ...$arguments);
        $options = str_starts_with($serve->url, 'unix') ? '--unix-socket ' . WORK . '/workers.sock' : '';
        $get = fn(string $path) => $options ? shell("curl -s --max-time 30 $options http://localhost$path") : $serve->get($path);
        same('the file', $get('/a.txt'));
        $seen = [];
        until(function () use ($get, &$seen) {
            $seen[$get('/pid')] = true;
            return count($seen) === 2;
        });
        same([true, true], array_map(fn($pid) => lives((string) $pid), array_keys($seen)));
        $serve->signal();
        same(0, $serve->end());
        foreach (array_filter(explode("\n", trim(file_get_contents(WORK . '/serve.out')))) as $line) {
            same(200, json_decode($line, true)['status']);
        }
    }
    same(false, file_exists(WORK . '/workers.sock'));
};
$cases['serve: connections are shared out among workers'] = function () {
    $serve = new Serving('--workers', '2', '--log', 'off', app('pid-handler.php', 'return fn() => (string) getmypid();'));
    workers($serve, 2);
    // They are open at the same time, and there is always one more.
    $seen = [];
    for ($i = 0; $i < 60; $i++) {
        $clients[] = $client = stream_socket_client('tcp' . substr($serve->url, 4));
        fwrite($client, "GET / HTTP/1.1\r\nHost: test\r\n\r\n");
        $answer = fread($client, 8192);
        $pid = substr($answer, strpos($answer, "\r\n\r\n") + 4);
        $seen[$pid] = ($seen[$pid] ?? 0) + 1;
    }
    // On a busy machine one may not run for some of them.
    same([2, true], [count($seen), min($seen) >= 15]);
    unset($clients);
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: lines of the log of all workers stay whole in a pipe'] = function () {
    // Its reader begins when the pipe is full, and is slow.
    posix_mkfifo(WORK . '/opens', 0600);
    $serve = new Serving('--workers', '2', '--log', 'json', app('pid-handler.php', 'return fn() => (string) getmypid();'), through: ['bash', '-c', 'exec "$@" > >(read < ' . WORK . '/opens; while IFS= read -r line; do printf "%s\\n" "$line"; done > ' . WORK . '/piping.log; mv ' . WORK . '/piping.log ' . WORK . '/piped.log)', 'bash']);
    workers($serve, 2);
    shell("wrk -t1 -c16 -d1s -H 'User-Agent: " . str_repeat('x', 300) . "' $serve->url/");
    file_put_contents(WORK . '/opens', "open\n");
    $serve->signal();
    same(0, $serve->end());
    until(fn() => file_exists(WORK . '/piped.log'));
    foreach (file(WORK . '/piped.log', FILE_IGNORE_NEW_LINES) as $line) {
        json_decode($line) !== null || preg_match('~^\d+ requests are not in this log~', $line) || throw new \Exception("a mixed line: $line");
    }
};
$cases['serve: as many workers as processors are allowed'] = function () {
    $app = app('pid-handler.php', 'return fn() => (string) getmypid();');
    $serve = new Serving('--workers', 'auto', $app, through: ['taskset', '-c', '0']);
    same(true, str_contains($serve->errors(), '(handler mode);'));
    $serve->signal();
    same(0, $serve->end());
    $allowed = (int) shell('nproc');
    $serve = new Serving('--workers', 'auto', $app);
    same(true, str_contains($serve->errors(), $allowed === 1 ? '(handler mode);' : "(handler mode, $allowed workers);"));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: workers that never get ready end it, after six attempts'] = function () {
    $command = fn(string ...$arguments) => shell('env -C ' . WORK . ' ' . implode(' ', array_map(escapeshellarg(...), [dirname(EXTENSION) . '/spindle', 'serve', '--extension', EXTENSION, '--listen', '127.0.0.1:0', ...$arguments])) . ' 2>&1');
    $lines = explode("\n", $command('--workers', '3', app('throws.php', 'throw new Exception("no database");')));
    same(6, count(preg_grep('~^spindle: \S+/throws\.php: Exception: no database in ~', $lines)));
    same(['0.1', '0.2', '0.4', '0.8', '1.6'], preg_replace('~^spindle: PHP ended with status 1 before it could serve: starting it again in (\S+) seconds$~', '$1', array_values(preg_grep('~again in~', $lines))));
    same(1, preg_match('~ \(status 1\)$~', end($lines)));
    // No attempt makes these better.
    same('spindle: There is no option "none" (status 1)', $command('--workers', '3', '--set', 'none=1', app('fine.php', 'return fn() => "";')));
    foreach (['0', '1025', '-1', 'many', ''] as $count) {
        same("spindle: --workers takes a number, from 1 to 1024, or 'auto', not '$count'; see 'spindle serve --help' (status 1)", $command("--workers=$count", 'fine.php'));
    }
    same("spindle: --workers is not for --dev, which has one; see 'spindle serve --help' (status 1)", $command('--workers', '2', '--dev', 'fine.php'));
    // One that gets ready in time is enough.
    @unlink(WORK . '/attempts');
    $serve = new Serving('--workers', '2', app('late.php', 'file_put_contents(__DIR__ . "/attempts", "x", FILE_APPEND); if (filesize(__DIR__ . "/attempts") < 4) posix_kill(getmypid(), SIGKILL); return fn() => (string) getmypid();'));
    workers($serve, 2);
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: no worker outlives a command that is killed'] = function () {
    $starts = "file_put_contents(__DIR__ . '/begun', getmypid()); while (true);";
    foreach (['starts', 'serves', 'computes', 'is stopped', 'finishes'] as $state) {
        $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker', '--workers', '2', '--set', 'request_timeout=0');
        $all = workers($serve, 2);
        if ($state === 'starts') {
            @unlink(WORK . '/begun');
            app('operated.php', $starts);
            $serve->signal(SIGHUP);
            until(fn() => (int) @file_get_contents(WORK . '/begun'));
            $all[] = file_get_contents(WORK . '/begun');
        } elseif ($state === 'computes') {
            $client = begin($serve, '/loop');
        } elseif ($state === 'is stopped') {
            posix_kill((int) $all[0], SIGSTOP);
        } elseif ($state === 'finishes') {
            $client = begin($serve, '/wait');
            $serve->signal();
            until(fn() => str_contains($serve->errors(), 'Stopping'));
            $all = [file_get_contents(WORK . '/begun')];
        }
        same($all, array_values(array_filter($all, lives(...))));
        $serve->signal(SIGKILL);
        until(fn() => array_filter($all, lives(...)) === []);
        until(fn() => @stream_socket_client(str_replace('http', 'tcp', $serve->url)) === false);
    }
};
$cases['serve: as the first process of a container it waits for what others leave behind'] = function () {
    // A process that takes orphans over is all that makes one the first, here.
    $app = app('orphans.php', 'return function (Async\Http\Request $r) { return trim((string) shell_exec("(sh -c \'echo \$\$; exec true\' &) 2>/dev/null; wait")); };');
    $serve = new Serving('--workers', '2', $app, through: ['python3', '-c', 'import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1); os.execv(sys.argv[1], sys.argv[1:])']);
    for ($i = 0; $i < 10; $i++) {
        $orphans[] = $orphan = $serve->get('/');
        same(true, ctype_digit($orphan));
    }
    until(fn() => array_filter($orphans, fn($pid) => file_exists("/proc/$pid")) === []);
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: what an app does to its process ends one worker at most'] = function () {
    $app = app('hostile.php', <<<'PHP'
        return function (Async\Http\Request $r) {
            switch ($r->path()) {
                case '/signals': foreach ([SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD] as $signal) pcntl_signal($signal, SIG_IGN); return 'ignored';
                case '/descriptors': foreach (array_diff(scandir('/proc/self/fd'), ['.', '..', '0', '1', '2']) as $fd) @FFI::cdef('int close(int);')->close((int) $fd); return 'closed';
                case '/fork': if (pcntl_fork() === 0) { posix_kill(getmypid(), SIGKILL); } return 'forked';
            }
            return (string) getmypid();
        };
        PHP);
    foreach (['/signals', '/descriptors', '/fork'] as $path) {
        $serve = new Serving('--workers', '2', '--grace', '1', '-d', 'ffi.enable=1', $app);
        $all = workers($serve, 2);
        $serve->get($path, '--max-time 3');
        $serve->signal(SIGHUP);
        until(fn() => array_intersect($next = workers($serve, 2, $all), $all) === [] && count($next) === 2);
        until(fn() => array_filter($all, lives(...)) === []);
        $serve->signal();
        same(0, $serve->end());
    }
};
$cases['serve: of too many that finish their requests the oldest is cut, and a line says so'] = function () {
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker', '--grace', '60');
    $waiting = [];
    for ($i = 1; $i <= 5; $i++) {
        $first = serving($serve);
        $oldest ??= $first;
        $waiting[] = begin($serve, '/wait');
        $serve->signal(SIGHUP);
        until(fn() => substr_count($serve->errors(), 'the new PHP has taken over') === $i);
        $i === 5 || same(false, str_contains($serve->errors(), 'finish their requests'));
    }
    until(fn() => str_contains($serve->errors(), "spindle: 5 processes finish their requests: the oldest, $oldest, cancels those that it still has\n"));
    same('503', substr(stream_get_contents(array_shift($waiting)), -3));
    touch(WORK . '/go');
    same(array_fill(0, 4, 'waited 200'), array_map(stream_get_contents(...), $waiting));
    same(1, substr_count($serve->errors(), 'finish their requests'));
    $serve->signal();
    same(0, $serve->end());
};
/** The app of loses_nothing(). */
function loaded(): string
{
    return app('load.php', <<<'PHP'
        return function (Async\Http\Request $r) {
            if ($r->isWebSocket()) {
                $socket = $r->upgrade();
                foreach ($socket as $message) $socket->send("You say: $message");
                return null;
            }
            return match ($r->path()) {
                '/upload' => strlen($r->body()) . ' bytes',
                '/events' => Async\Http\Response::events((function () { for ($i = 0; $i < 30; $i++) { Async\delay(100); yield "event $i"; } })()),
                default => (string) getmypid(),
            };
        };
        PHP);
}

/** Has clients of all kinds while something happens, each of which must come to its end. */
function loses_nothing(Serving $serve, callable $meanwhile): void
{
    file_put_contents(WORK . '/load.py', <<<'PY'
        import asyncio, http.client, ssl, sys, time, websockets
        kind, host, port, is_tls = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == 's'
        trust = ssl.create_default_context(cafile=sys.argv[5])
        async def talk():
            async with websockets.connect(f'ws{sys.argv[4]}://{host}:{port}/', **({'ssl': trust} if is_tls else {})) as socket:
                try:
                    while True:
                        await socket.send('x')
                        assert await socket.recv() == 'You say: x'
                        await asyncio.sleep(0.05)
                except websockets.ConnectionClosed as e:
                    print(e.code)
        if kind == 'socket':
            asyncio.run(talk())
        else:
            client = http.client.HTTPSConnection(host, port, context=trust) if is_tls else http.client.HTTPConnection(host, port)
            def pieces():
                for i in range(30):
                    time.sleep(0.1)
                    yield b'x' * 1000
            client.request('POST', '/upload', body=pieces(), headers={'Content-Length': '30000'})
            print(client.getresponse().read().decode())
        PY);
    preg_match('~^http(s?)://(.*):(\d+)$~', $serve->url, $of);
    $begin = fn(string $kind) => popen('timeout 60 /usr/bin/python3 ' . WORK . "/load.py $kind $of[2] $of[3] '$of[1]' " . WORK . '/one.pem 2>&1', 'r');
    [$upload, $socket] = [$begin('upload'), $begin('socket')];
    $events = popen("curl -sN --cacert " . WORK . "/one.pem $serve->url/events", 'r');
    $loads = array_map(fn($header) => popen("wrk -t1 -c8 -d8s -H '$header' $serve->url/ 2>&1", 'r'), ['X: kept', 'Connection: close']);
    $meanwhile();
    same('30000 bytes', trim(stream_get_contents($upload)));
    same('1001', trim(stream_get_contents($socket)));
    same(30, substr_count(stream_get_contents($events), 'data: event '));
    foreach ($loads as $load) {
        $seen = stream_get_contents($load);
        same([1, 0], [preg_match('~[1-9]\d* requests in~', $seen), preg_match('~Socket errors|Non-2xx~', $seen)]);
    }
}
$cases['serve: reloads under load lose nothing'] = function () {
    foreach ([[], ['--tls', 'one.pem,one.key']] as $arguments) {
        $serve = new Serving('--workers', '2', '--log', 'off', '--grace', '20', ...$arguments, ...[loaded()]);
        workers($serve, 2);
        loses_nothing($serve, function () use ($serve) {
            for ($i = 1; $i <= 20; $i++) {
                $serve->signal(SIGHUP);
                try {
                    until(fn() => substr_count($serve->errors(), 'the new PHP has taken over') === $i);
                } catch (\Exception) {
                    throw new \Exception("reload $i: " . $serve->errors());
                }
            }
        });
        $serve->signal();
        same(0, $serve->end());
    }
};
$cases['serve: a release that a symbolic link leads to, and that is deleted later'] = function () {
    foreach (['one', 'two', 'broken'] as $release) {
        mkdir(WORK . "/$release");
        file_put_contents(WORK . "/$release/part.php", "<?php const RELEASE = '$release';\n");
        file_put_contents(WORK . "/$release/served.php", $release === 'broken' ? '<?php throw new Exception("no such table");'
            : '<?php require __DIR__ . "/part.php"; return fn() => RELEASE . " " . basename(getcwd()) . " " . file_get_contents("kept/a.txt");');
        mkdir(WORK . "/$release/kept");
        file_put_contents(WORK . "/$release/kept/a.txt", $release);
    }
    $switch = function (string $release) {
        symlink($release, WORK . '/switching');
        rename(WORK . '/switching', WORK . '/current');
    };
    $remove = fn(string $release) => shell('rm -r ' . WORK . "/$release");
    $switch('one');
    $serve = new Serving('--workers', '2', '--files', '/kept=kept', 'served.php', through: ['bash', '-c', 'cd ' . WORK . '/current && exec "$@"', 'bash']);
    same('one one one', $serve->get('/'));
    $switch('two');
    $remove('one');
    $serve->signal(SIGHUP);
    until(fn() => str_contains($serve->errors(), 'the new PHP has taken over'));
    same(array_fill(0, 10, 'two two two'), array_map(fn() => $serve->get('/'), range(1, 10)));
    same('two', $serve->get('/kept/a.txt'));
    // One that does not boot, or is not there, changes nothing.
    $switch('broken');
    $serve->signal(SIGHUP);
    until(fn() => str_contains($serve->errors(), 'spindle: the new PHP ended with status 1 before it could serve: the old one goes on'));
    same(1, preg_match('~^spindle: \S+/broken/served\.php: Exception: no such table in ~m', $serve->errors()));
    $remove('broken');
    $serve->signal(SIGHUP);
    until(fn() => str_contains($serve->errors(), 'spindle: the new PHP cannot be started: served.php: No such file or directory: the old one goes on'));
    same(array_fill(0, 10, 'two two two'), array_map(fn() => $serve->get('/'), range(1, 10)));
    $serve->signal();
    same(0, $serve->end());
};
