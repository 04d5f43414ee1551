<?php
/*
 * What the command knows of its workers and does about them: limits, what stands still (PROC-3), and the admin addresses (PROC-4).
 */

declare(strict_types=1);

namespace ServerTests;

/** Returns what the command answers at the socket of its admin address. */
function admin(string $path, string $options = ''): string
{
    return shell("curl -s --max-time 30 $options --unix-socket " . WORK . "/admin.sock 'http://localhost$path'");
}

/** @return array{workers: list<array<string, mixed>>} */
function status(): array
{
    return json_decode(admin('/status'), true);
}

/** Returns the value of a metric with all its labels. */
function metric(string $name): ?float
{
    return preg_match('~^' . preg_quote($name) . ' (\S+)$~m', admin('/metrics'), $found) ? (float) $found[1] : null;
}
$cases['serve: a worker that has served enough is replaced by one that is ready'] = function () {
    foreach ([['--max-requests', '100'], ['--max-lifetime', '3'], ['--max-memory', '40M']] as $limit) {
        $grows = 'static $kept = ""; if ($r->path() === "/grow") $kept .= str_repeat("x", 60_000_000);';
        $app = app('limited.php', "return function (Async\\Http\\Request \$r) { $grows return (string) getmypid(); };");
        $serve = new Serving('--workers', '2', '--log', 'off', '--admin', 'unix:' . WORK . '/admin.sock', ...$limit, ...[$app]);
        $all = workers($serve, 2);
        $limit[0] === '--max-memory' && $serve->get('/grow');
        // None is refused, and at no time is there less than two that serve.
        $fewest = 9;
        until(function () use ($serve, $all, $limit, &$fewest) {
            same(true, ctype_digit(serving($serve)));
            $serving = array_filter(status()['workers'], fn($worker) => $worker['stage'] === 'serving');
            $fewest = min($fewest, count($serving));
            $gone = array_diff($all, array_column($serving, 'pid'));
            return count($gone) >= ($limit[0] === '--max-memory' ? 1 : 2);
        });
        same(2, $fewest);
        same(1, preg_match('~^spindle: worker [12] has reached ' . $limit[0] . ': another one takes its place$~m', $serve->errors()));
        same(true, metric('spindle_worker_restarts_total{why="' . substr($limit[0], 2) . '"}') >= 1);
        same(true, (float) metric('spindle_requests_total') >= 2.0);
        $serve->signal();
        same(0, $serve->end());
    }
};
$cases['serve: one whose replacement does not boot goes on'] = function () {
    $serve = new Serving('--workers', '2', '--max-requests', '1000', '--log', 'off', app('operated.php', OPERATED), '--mode', 'worker');
    $all = workers($serve, 2);
    app('operated.php', 'throw new Exception("broken");');
    shell("wrk -t1 -c4 -d3s $serve->url/pid");
    until(fn() => str_contains($serve->errors(), 'before it could serve: starting it again in 0.2 seconds'));
    same($all, array_values(array_filter($all, lives(...))));
    same(true, in_array(serving($serve), $all, true));
    app('operated.php', OPERATED);
    until(fn() => count(array_filter($all, lives(...))) < 2);
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a worker that stands still is ended with a line that says where, and replaced'] = function () {
    foreach (['computes', 'is stopped'] as $how) {
        $serve = new Serving('--workers', '2', '--stuck-timeout', '1', '--set', 'request_timeout=0', '--admin', 'unix:' . WORK . '/admin.sock', app('operated.php', OPERATED), '--mode', 'worker');
        $all = workers($serve, 2);
        if ($how === 'computes') {
            $loop = begin($serve, '/loop');
            $stuck = file_get_contents(WORK . '/begun');
        } else {
            posix_kill((int) $stuck = $all[0], SIGSTOP);
        }
        until(fn() => preg_match('~^spindle: worker [12] has stood still for \d+ seconds: it is ended, and another one started$~m', $serve->errors()));
        // The command answers, and the others serve.
        same("alive", admin('/healthz'));
        same("ready", admin('/readyz'));
        until(fn() => !lives($stuck));
        same($how === 'computes' ? 1 : 0, preg_match('~^Spindle: ended by a signal, which the event loop did not get to: coroutine #\d+ \(GET /loop, request [0-9a-f]{32}\) computes in .*operated\.php on line 9$~m', $serve->errors()));
        same(false, in_array($stuck, workers($serve, 2), true));
        same(1.0, metric('spindle_worker_restarts_total{why="stuck"}'));
        $serve->signal();
        same(0, $serve->end());
    }
    // One that only waits does not stand still.
    $serve = new Serving('--workers', '2', '--stuck-timeout', '1', app('operated.php', OPERATED), '--mode', 'worker');
    $wait = begin($serve, '/wait');
    sleep(3); // nothing happens in this time
    touch(WORK . '/go');
    same('waited 200', stream_get_contents($wait));
    same(false, str_contains($serve->errors(), 'stood still'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: admin addresses are answered while all workers compute'] = function () {
    $port = free_port();
    $serve = new Serving('--workers', '2', '--grace', '0', '--set', 'request_timeout=0', '--admin', "127.0.0.1:$port", '--admin', 'unix:' . WORK . '/admin.sock', app('operated.php', OPERATED), '--mode', 'worker');
    workers($serve, 2);
    [$first, $second] = [begin($serve, '/loop'), begin($serve, '/loop')];
    $get = fn(string $path, string $options = '') => shell("curl -s --max-time 30 -w ' %{http_code}' $options http://127.0.0.1:$port$path");
    same("alive\n 200", $get('/healthz'));
    same("ready\n 200", $get('/readyz'));
    same(2.0, metric('spindle_workers{stage="serving"}'));
    same(2, array_sum(array_column(status()['workers'], 'running')));
    same("there are /healthz, /readyz, /metrics, /status, /requests, POST /reload and POST /upgrade\n 404", $get('/'));
    same("another method\n 405", $get('/metrics', '-d x'));
    same("a reload is for those who may use a Unix socket: --admin unix:PATH\n 403", $get('/reload', '-X POST'));
    $long = stream_socket_client("tcp://127.0.0.1:$port");
    fwrite($long, 'GET / HTTP/1.1' . str_repeat('x', 17_000));
    same(true, str_starts_with((string) fgets($long), 'HTTP/1.1 431 '));
    // Who asks nothing keeps no one from an answer.
    for ($i = 0; $i < 200; $i++) $silent[] = stream_socket_client("tcp://127.0.0.1:$port");
    same("alive\n 200", $get('/healthz', '--max-time 5')); // before their time ends
    same("alive", admin('/healthz', '--max-time 5'));
    unset($silent);
    $serve->signal();
    same("stopping\n 503", $get('/readyz'));
    same(1, $serve->end()); // they had to be ended
    same(false, file_exists(WORK . '/admin.sock'));
    same([], array_filter([stream_get_contents($first), stream_get_contents($second)], fn($text) => str_contains($text, '200')));
};
$cases['serve: requests of all workers are listed with where they are, also while one worker computes'] = function () {
    $port = free_port();
    $serve = new Serving('--workers', '2', '--grace', '0', '--set', 'request_timeout=0', '--admin', "127.0.0.1:$port", '--admin', 'unix:' . WORK . '/admin.sock', app('operated.php', OPERATED), '--mode', 'worker');
    workers($serve, 2);
    $command = escapeshellarg(dirname(EXTENSION) . '/spindle');
    $list = fn(): array => json_decode(admin('/requests'), true);
    same(['requests' => [], 'more' => 0, 'silent' => []], $list());
    $wait = begin($serve, '/wait?a=' . str_repeat('a', 4_000));
    // On a busy machine a worker may not have said it within a second.
    until(function () use ($list, &$one) {
        ['requests' => $requests, 'more' => $more, 'silent' => $silent] = $list();
        $one = $requests[0] ?? null;
        return [count($requests), $more, $silent] === [1, 0, []];
    });
    same(['GET', '127.0.0.1', 'running', true], [$one['method'], $one['client'], $one['stage'], is_float($one['seconds'])]);
    same('/wait?a=' . str_repeat('a', 2_992) . '…', $one['target']);
    // It wakes again and again: the list may come between its waits, or at one for a file.
    preg_match('~^  #\d+ (?:suspended|queued), .*, suspended at [^\n]*operated\.php:7, .*\n    #0 [^\n]*operated\.php\(7\): (?:usleep|file_exists|file_put_contents)\(\)\n~s', $one['where']) || throw new \Exception($one['where']);
    $loop = begin($serve, '/loop');
    $stuck = (int) file_get_contents(WORK . '/begun');
    // It is asked but once, so that other words have room in its socket.
    for ($i = 0; $i < 4; $i++) until(fn() => array_column($list()['silent'], 'pid') === [$stuck]);
    until(function () use ($command, &$printed) { return substr_count($printed = shell("$command status " . WORK . '/admin.sock'), 'does not say') === 1; });
    preg_match("~^process {$serve->process()}, up for \\d.*, at 127\\.0\\.0\\.1:0, at .*\nworker 1: process \\d+, serving for .* MB, connections \\d+, requests \\d+, running \\d, queued 0\nworker 2: .*\nworker [12], process $stuck, does not say what it is doing$~m", $printed) || throw new \Exception($printed);
    $one['pid'] === $stuck || preg_match('~^GET /wait\?a=\S+, running for [\d.]+ s: worker [12], request [0-9a-f]{32}, from 127\.0\.0\.1\n  #\d+ (?:suspended|queued), ~m', $printed) || throw new \Exception($printed);
    same(false, str_contains($printed, '(status'));
    same('requests are for those who may use a Unix socket: --admin unix:PATH', shell("curl -s --max-time 30 http://127.0.0.1:$port/requests"));
    same('spindle: ' . WORK . '/none: No such file or directory (status 1)', shell("$command status " . WORK . '/none 2>&1'));
    // Clients that leave, and ask together.
    for ($i = 0; $i < 20; $i++) fwrite($some[] = stream_socket_client('unix://' . WORK . '/admin.sock'), "GET /requests HTTP/1.1\r\n\r\n");
    array_splice($some, 0, 10);
    foreach ($some as $client) same(true, in_array($stuck, array_column(json_decode(explode("\r\n\r\n", stream_get_contents($client))[1], true)['silent'], 'pid'), true));
    $serve->signal();
    same(1, $serve->end()); // one had to be ended
    array_map(stream_get_contents(...), [$wait, $loop]);
};
$cases['serve: Prometheus takes the alerts of the documentation, and there is each metric that they ask for'] = function () {
    $rules = documented('yaml\ngroups:');
    file_put_contents(WORK . '/alerts.yaml', "groups:\n$rules");
    same(1, preg_match('~^  SUCCESS: (\d+) rules found$~m', shell('promtool check rules ' . WORK . '/alerts.yaml 2>&1'), $found));
    same(substr_count($rules, 'alert:'), (int) $found[1]);
    $serve = new Serving('--admin', 'unix:' . WORK . '/admin.sock', app('operated.php', OPERATED), '--mode', 'worker');
    $serve->get('/pid');
    $metrics = admin('/metrics');
    preg_match_all('~spindle_\w+(?:\{(\w+)[=!])?~', $rules, $asked, PREG_SET_ORDER);
    same(true, count($asked) >= 8);
    foreach ($asked as $one) {
        [$metric, $label] = $one + [1 => ''];
        // Without a restart there is no value with a label.
        [$name] = explode('{', $metric);
        $value = $label === '' ? "~^{$name}[ {]~m" : "~^$name\\{{$label}=~m";
        same(true, $label === 'why' ? str_contains($metrics, "# TYPE $name counter\n") : (bool) preg_match($value, $metrics));
    }
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: it is not ready while more than --ready-queue requests wait'] = function () {
    $admin = ['--admin', 'unix:' . WORK . '/admin.sock'];
    $serve = new Serving('--ready-queue', '1', '--set', 'max_concurrency=1', '--set', 'queue_timeout=0', ...$admin, ...[app('operated.php', OPERATED), '--mode', 'worker']);
    $clients = [begin($serve, '/wait')];
    foreach (['ready', 'ready', '2 requests wait for a handler', '3 requests wait for a handler'] as $queued => $says) {
        until(fn() => admin('/status') !== '' && array_sum(array_column(status()['workers'], 'queued')) === $queued);
        same($says, admin('/readyz'));
        $clients[] = popen("curl -s --max-time 60 $serve->url/pid", 'r');
    }
    touch(WORK . '/go');
    array_map(stream_get_contents(...), $clients);
    until(fn() => admin('/readyz') === 'ready');
    $serve->signal();
    same(0, $serve->end());
    $refused = shell(escapeshellarg(dirname(EXTENSION) . '/spindle') . ' serve --ready-queue 1 x.php 2>&1');
    same("spindle: --ready-queue is for /readyz, which takes --admin; see 'spindle serve --help' (status 1)", $refused);
};
$cases['serve: what an app writes to the command keeps that from nothing'] = function () {
    foreach (["x\n", 'x', "file /none/x\n"] as $text) {
        $app = app('writes.php', <<<'PHP'
            return function (Async\Http\Request $r) {
                if ($r->query('text') === null) return (string) getmypid();
                $text = str_repeat($r->query('text'), 30_000);
                $c = FFI::cdef('int fork(void); int getpid(void); int getppid(void); int kill(int, int); long write(int, const char *, size_t);');
                $sockets = array_filter(scandir('/proc/self/fd'), fn($fd) => str_starts_with((string) @readlink("/proc/self/fd/$fd"), 'socket:'));
                $parent = $c->getpid();
                // It goes on until that ends. Those that listen take nothing.
                if ($c->fork() === 0) {
                    while ($c->getppid() === $parent) foreach ($sockets as $fd) $c->write((int) $fd, $text, strlen($text));
                    $c->kill($c->getpid(), SIGKILL);
                }
                return 'writes';
            };
            PHP);
        $serve = new Serving('--workers', '2', '-d', 'ffi.enable=1', '--admin', 'unix:' . WORK . '/admin.sock', $app);
        $all = workers($serve, 2);
        $serve->get('/?text=' . rawurlencode($text), '--max-time 5');
        same('alive', admin('/healthz'));
        for ($i = 1; $i <= 2; $i++) {
            $serve->signal(SIGHUP);
            until(fn() => substr_count($serve->errors(), 'the new PHP has taken over') === $i);
        }
        same('alive', admin('/healthz'));
        same(1, preg_match('~^VmHWM:\s+(\d+) kB$~m', file_get_contents('/proc/' . $serve->process() . '/status'), $peak));
        same(true, $peak[1] < 100_000);
        $serve->signal();
        same(0, $serve->end());
    }
};
$cases['serve: a command that is out of descriptors rests, and goes on when there are some'] = function () {
    $serve = new Serving('--admin', 'unix:' . WORK . '/admin.sock', app('pid-handler.php', 'return fn() => (string) getmypid();'), through: ['bash', '-c', 'ulimit -n 40 && exec "$@"', 'bash']);
    for ($i = 0; $i < 60; $i++) $silent[] = stream_socket_client('unix://' . WORK . '/admin.sock');
    until(fn() => is_link('/proc/' . $serve->process() . '/fd/39')); // the last one
    $ticks = fn() => array_sum(array_slice(explode(' ', file_get_contents('/proc/' . $serve->process() . '/stat')), 13, 2));
    $before = $ticks();
    sleep(3); // nothing happens in this time
    same(true, $ticks() - $before < 30);
    same(true, ctype_digit(serving($serve)));
    unset($silent);
    same('alive', admin('/healthz'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: spindle reload waits for the outcome'] = function () {
    $reload = fn() => shell(escapeshellarg(dirname(EXTENSION) . '/spindle') . ' reload ' . WORK . '/admin.sock 2>&1');
    $serve = new Serving('--workers', '2', '--admin', 'unix:' . WORK . '/admin.sock', app('operated.php', OPERATED), '--mode', 'worker');
    $all = workers($serve, 2);
    for ($i = 1; $i <= 3; $i++) {
        same('', $reload());
        same((float) $i, metric('spindle_reloads_total{result="done"}'));
        same([], array_intersect($all, [serving($serve), serving($serve)]));
        $all = workers($serve, 2, $all);
    }
    app('operated.php', 'throw new Exception("broken");');
    same('spindle: the new PHP ended with status 1 before it could serve: the old one goes on (status 1)', $reload());
    same(1.0, metric('spindle_reloads_total{result="failed"}'));
    same(true, in_array(serving($serve), $all, true));
    $serve->signal();
    same(0, $serve->end());
    same('spindle: ' . WORK . '/admin.sock: No such file or directory (status 1)', $reload());
};
$cases['serve: the log file is opened again at SIGUSR1'] = function () {
    $serve = new Serving('--workers', '2', '--log', 'json', '--log-file', WORK . '/access.log', app('pid-handler.php', 'return fn() => (string) getmypid();'));
    $all = workers($serve, 2);
    $paths = fn(string $file) => preg_match_all('~"target":"/(\w+)"~', (string) @file_get_contents(WORK . "/$file"), $found) ? $found[1] : [];
    rename(WORK . '/access.log', WORK . '/access.log.1');
    $serve->signal(SIGUSR1);
    until(fn() => is_file(WORK . '/access.log'));
    // All workers write to the new one soon.
    $new = fn(string $pid) => in_array($pid, array_map(strval(...), $paths('access.log')), true);
    until(function () use ($serve, $all, $new) {
        $pid = serving($serve);
        $serve->get("/$pid");
        return count(array_filter($all, $new)) === 2;
    });
    $before = $paths('access.log.1');
    for ($i = 0; $i < 100; $i++) $serve->get("/last$i");
    until(fn() => count(preg_grep('~^last~', $paths('access.log'))) === 100);
    same($before, $paths('access.log.1'));
    // Where it cannot be opened, the old one goes on.
    rename(WORK . '/access.log', WORK . '/access.log.2');
    mkdir(WORK . '/access.log');
    $serve->signal(SIGUSR1);
    until(fn() => substr_count($serve->errors(), 'spindle: ' . WORK . '/access.log: Is a directory') === 2);
    $serve->get('/still');
    until(fn() => in_array('still', $paths('access.log.2'), true));
    $serve->signal();
    same(0, $serve->end());
    same('', file_get_contents(WORK . '/serve.out'));
};
$cases['serve: limits and admin addresses that are wrong are one line, and status 1'] = function () {
    $taken = stream_socket_server('tcp://127.0.0.1:0');
    $port = stream_socket_get_name($taken, false);
    $fine = app('fine.php', 'return fn() => "";');
    foreach ([
        "--admin $port" => "Cannot listen at $port: Address already in use",
        '--admin nowhere' => '--admin takes HOST:PORT or unix:PATH, not \'nowhere\'',
        '--admin fd:3' => '--admin takes HOST:PORT or unix:PATH, not \'fd:3\'',
        '--max-requests 0' => '--max-requests takes a number',
        '--max-memory 1T' => '--max-memory takes bytes, as in 256M',
        '--max-memory 0' => '--max-memory takes bytes, as in 256M',
        '--max-lifetime 0' => '--max-lifetime takes seconds, from 1 to 31536000',
        '--stuck-timeout never' => '--stuck-timeout takes seconds, from 1 to 31536000',
        '--log-file /none/access.log' => '/none/access.log: No such file or directory',
        '--log off --log-file access.log' => '--log-file is for a log, and there is none with --log off',
        '--dev --max-requests 10' => '--max-requests, --max-memory, --max-lifetime and --stuck-timeout are not for --dev',
    ] as $arguments => $expected) {
        $lines = explode("\n", shell('bash -c ' . escapeshellarg('cd ' . WORK . ' && exec ' . dirname(EXTENSION) . '/spindle serve --extension ' . EXTENSION . " --listen 127.0.0.1:0 $arguments $fine")));
        count($lines) === 1 && str_contains($lines[0], $expected) && str_ends_with($lines[0], ' (status 1)')
            || throw new \Exception("$arguments: " . implode("\n", $lines));
    }
};
