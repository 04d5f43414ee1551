<?php
/*
 * `spindle serve` and its processes: signals, reloads (PROC-2), what hangs and what ends.
 */

declare(strict_types=1);

namespace ServerTests;

/** The number of the PHP that serves. */
function serving(Serving $serve): string
{
    return $serve->get('/pid');
}

const OPERATED = <<<'PHP'
    return function () {
        switch (strtok($_SERVER['REQUEST_URI'], '?')) {
            case '/pid': echo getmypid(); break;
            case '/fatal': trigger_error('fatal', E_USER_ERROR);
            case '/exit': posix_kill(getmypid(), SIGKILL);
            case '/wait': file_put_contents(__DIR__ . '/begun', getmypid()); while (!file_exists(__DIR__ . '/go')) usleep(10_000); echo 'waited'; break;
            case '/stream': file_put_contents(__DIR__ . '/begun', getmypid()); while (true) { echo "data: x\n\n"; ob_flush(); flush(); usleep(10_000); }
            case '/loop': file_put_contents(__DIR__ . '/begun', getmypid()); while (true);
        }
    };
    PHP;

/** Asks for this path, and returns the running client when the handler has begun, which has written its process into a file. */
function begin(Serving $serve, string $path)
{
    array_map(fn($file) => @unlink(WORK . "/$file"), ['begun', 'go']);
    $client = popen("curl -sN --max-time 60 '$serve->url$path' -w ' %{http_code}'", 'r');
    until(fn() => (int) @file_get_contents(WORK . '/begun'));
    return $client;
}
$cases['serve: after a fatal error the next PHP accepts, and the others have --grace'] = function () {
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker', '--grace', '5');
    $first = serving($serve);
    $stream = begin($serve, '/stream');
    same('500', $serve->get('/fatal', "-o /dev/null -w '%{http_code}'"));
    // None is refused, and the next one serves beside the other, whose stream is endless.
    $second = serving($serve);
    same([true, false], [file_exists("/proc/$first"), $first === $second]);
    same(array_fill(0, 10, $second), array_map(fn() => serving($serve), range(1, 10)));
    stream_get_contents($stream);
    until(fn() => !file_exists("/proc/$first"));
    same($second, serving($serve));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: PHP that ends is started again'] = function () {
    foreach (['127.0.0.1:0', 'unix:' . WORK . '/kept.sock'] as $address) {
        $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker', '--listen', $address);
        $get = fn(string $path) => str_starts_with($address, 'unix') ? shell('curl -s --max-time 30 --unix-socket ' . WORK . "/kept.sock http://localhost$path") : $serve->get($path);
        $first = $get('/pid');
        same(' (status 52)', $get('/exit'));
        same(true, $first !== ($second = $get('/pid')) && ctype_digit($second));
        same(true, str_contains($serve->errors(), 'spindle: PHP was ended by signal 9: starting it again'));
        $serve->signal();
        same(0, $serve->end());
    }
    same(false, file_exists(WORK . '/kept.sock'));
};
$cases['serve: PHP that does not start any more is tried again'] = function () {
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker');
    $first = serving($serve);
    app('operated.php', 'throw new Exception("broken");');
    $serve->get('/exit');
    until(fn() => str_contains($serve->errors(), 'spindle: PHP ended with status 1 before it could serve: starting it again in 0.1 seconds')
        && str_contains($serve->errors(), 'again in 0.2 seconds'));
    same(true, str_contains($serve->errors(), 'operated.php: Exception: broken'));
    app('operated.php', OPERATED);
    same(true, $first !== ($second = serving($serve)) && ctype_digit($second));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: what a handler forks ends with its own status'] = function () {
    $app = app('forks.php', <<<'PHP'
        return function (Async\Http\Request $request) {
            $how = ltrim($request->path(), '/');
            if (($pid = pcntl_fork()) === 0) {
                if ($how === 'throw') throw new Exception('of the child');
                exit((int) $how);
            }
            pcntl_waitpid($pid, $status);
            return getmypid() . ' ' . (pcntl_wifexited($status) ? pcntl_wexitstatus($status) : 'signal');
        };
        PHP);
    foreach ([[], ['--dev']] as $more) {
        $serve = new Serving($app, ...$more);
        $pid = strtok($serve->get('/0'), ' ');
        foreach (['0' => 0, '3' => 3, 'throw' => 255] as $how => $status) same("$pid $status", $serve->get("/$how"));
        same(false, str_contains($serve->errors(), 'has ended the process'));
        $serve->signal();
        same(0, $serve->end());
    }
};
$cases['serve: a reload ends a PHP that hangs while it starts'] = function () {
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker');
    $first = serving($serve);
    foreach (['while (true);', 'pcntl_sigprocmask(SIG_BLOCK, [SIGTERM, SIGINT]); while (true);'] as $hangs) {
        @unlink(WORK . '/begun');
        app('operated.php', "file_put_contents(__DIR__ . '/begun', getmypid()); $hangs");
        $serve->signal(SIGUSR2);
        until(fn() => $hanging = (int) @file_get_contents(WORK . '/begun'));
        same($first, serving($serve));
        $hanging = file_get_contents(WORK . '/begun');
        app('operated.php', OPERATED);
        $serve->signal(SIGUSR2);
        until(fn() => !in_array($second = serving($serve), [$first, $hanging], true));
        same(false, file_exists("/proc/$hanging"));
        until(fn() => !file_exists("/proc/$first"));
        $first = serving($serve);
    }
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: PHP that gets ready although it was told to end is replaced'] = function () {
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker');
    $first = serving($serve);
    array_map(fn($file) => @unlink(WORK . "/$file"), ['begun', 'go']);
    $load = "pcntl_sigprocmask(SIG_BLOCK, [SIGTERM]); file_put_contents(__DIR__ . '/begun', getmypid()); while (!file_exists(__DIR__ . '/go')) usleep(10_000);\n";
    app('operated.php', $load . OPERATED);
    $serve->signal(SIGUSR2);
    until(fn() => (int) @file_get_contents(WORK . '/begun'));
    $late = file_get_contents(WORK . '/begun');
    app('operated.php', OPERATED);
    $serve->signal(SIGUSR2);
    until(fn() => substr_count($serve->errors(), 'starting PHP anew') === 2);
    touch(WORK . '/go');
    until(fn() => !in_array(serving($serve), [$first, $late], true));
    until(fn() => !file_exists("/proc/$first") && !file_exists("/proc/$late"));
    $third = serving($serve);
    same(false, str_contains($serve->errors(), 'starting it again'));
    same($third, serving($serve));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: PHP that hangs while it starts is ended after a minute'] = function () {
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker');
    $first = serving($serve);
    @unlink(WORK . '/begun');
    app('operated.php', "file_put_contents(__DIR__ . '/begun', getmypid()); while (true) usleep(100_000);");
    $serve->signal(SIGUSR2);
    until(fn() => (int) @file_get_contents(WORK . '/begun'));
    posix_kill((int) $first, SIGKILL); // nothing serves
    app('operated.php', OPERATED);
    // It gets SIGTERM and SIGINT at a time.
    until(fn() => preg_match('~^spindle: PHP was ended by signal (2|15) before it could serve: starting it again in 0.1 seconds$~m', $serve->errors()), 90);
    same(1, preg_match('~^spindle: PHP is not ready after 60 seconds: it is ended$~m', $serve->errors()));
    same(true, ctype_digit(serving($serve)));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: of many that finish their requests the oldest is ended'] = function () {
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker', '--grace', '300');
    for ($i = 0; $i < 5; $i++) {
        $pids[] = $pid = serving($serve);
        $waits[] = begin($serve, '/wait');
        $serve->get('/fatal');
        until(fn() => serving($serve) !== $pid);
    }
    same(1, preg_match("~ 503$~", stream_get_contents($waits[0]))); // it has not waited for its client to give up
    until(fn() => !file_exists("/proc/$pids[0]"));
    same(array_fill(0, 4, true), array_map(fn($pid) => file_exists("/proc/$pid"), array_slice($pids, 1)));
    $serve->signal();
    touch(WORK . '/go');
    same(array_fill(0, 4, 'waited 200'), array_map(stream_get_contents(...), array_slice($waits, 1)));
    // An error of before is no failure of the stop.
    same(0, $serve->end());
};
$cases['serve: the next PHP accepts when only PHP is told to stop'] = function () {
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker', '--grace', '300');
    $first = serving($serve);
    $wait = begin($serve, '/wait');
    posix_kill((int) $first, SIGTERM);
    until(fn() => str_contains($serve->errors(), 'spindle: PHP accepts no more requests: starting another one'));
    same(true, $first !== ($second = serving($serve)) && ctype_digit($second));
    touch(WORK . '/go');
    same('waited 200', stream_get_contents($wait));
    until(fn() => !file_exists("/proc/$first"));
    same($second, serving($serve));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: signals to a whole group do not end a PHP that loads'] = function () {
    $signals = 'foreach ([SIGHUP, SIGUSR1, SIGUSR2] as $signal) posix_kill(getmypid(), $signal);';
    $serve = new Serving(app('signalled.php', "$signals return fn() => 'loaded';"));
    same('loaded', $serve->get('/'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: PHP that cannot be executed for a while is tried again'] = function () {
    copy(PHP_BINARY, WORK . '/own-php');
    chmod(WORK . '/own-php', 0755);
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker', '--php', WORK . '/own-php');
    $first = serving($serve);
    rename(WORK . '/own-php', WORK . '/away');
    $serve->signal(SIGUSR2);
    until(fn() => preg_match('~^spindle: the new PHP cannot be started: \S+own-php: No such file or directory: the old one goes on$~m', $serve->errors()));
    same($first, serving($serve));
    $serve->get('/exit');
    until(fn() => str_contains($serve->errors(), 'No such file or directory: starting it again in 0.2 seconds'));
    rename(WORK . '/away', WORK . '/own-php');
    same(true, $first !== ($second = serving($serve)) && ctype_digit($second));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: signals mean what operators know'] = function () {
    foreach ([SIGHUP, SIGUSR2] as $signal) {
        $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker');
        $first = serving($serve);
        // Another PHP takes over, and the old one answers what it has.
        $wait = begin($serve, '/wait');
        $serve->signal($signal);
        until(fn() => serving($serve) !== $first);
        touch(WORK . '/go');
        same('waited 200', stream_get_contents($wait));
        until(fn() => !file_exists("/proc/$first"));
        // One that does not start changes nothing.
        $second = serving($serve);
        app('operated.php', 'throw new Exception("broken");');
        $serve->signal($signal);
        until(fn() => str_contains($serve->errors(), 'before it could serve: the old one goes on'));
        same($second, serving($serve));
        $serve->signal(SIGUSR1);
        until(fn() => str_contains($serve->errors(), 'there are no log files to open again'));
        // PHP itself gets them all, where they are sent to a whole group.
        foreach ([SIGHUP, SIGUSR1, SIGUSR2] as $other) posix_kill((int) $second, $other);
        same($second, serving($serve));
        $wait = begin($serve, '/wait');
        $serve->signal(SIGQUIT);
        posix_kill((int) $second, SIGQUIT);
        until(fn() => str_contains($serve->errors(), 'Stopping'));
        touch(WORK . '/go');
        same('waited 200', stream_get_contents($wait));
        same(0, $serve->end());
    }
};
$cases['serve: a signal that goes to all processes stops at its grace'] = function () {
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker');
    $pid = serving($serve);
    $wait = begin($serve, '/wait');
    posix_kill((int) $pid, SIGTERM);
    $serve->signal();
    until(fn() => str_contains($serve->errors(), 'Stopping'));
    touch(WORK . '/go');
    same('waited 200', stream_get_contents($wait));
    same(0, $serve->end());
};
$cases['serve: what computes for ever is ended, by its time or by signals'] = function () {
    $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker', '--set', 'request_timeout=0.5');
    $loop = begin($serve, '/loop');
    same(true, ctype_digit($pid = serving($serve)));
    same(1, preg_match('/ 503$/', stream_get_contents($loop)));
    same($pid, serving($serve));
    $serve->signal();
    same(0, $serve->end());
    foreach ([1, 2] as $times) {
        $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker', '--set', 'request_timeout=0', '--grace', '0');
        $loop = begin($serve, '/loop');
        $serve->signal();
        if ($times === 2) {
            until(fn() => @stream_socket_client(str_replace('http', 'tcp', $serve->url)) === false);
            $serve->signal();
        }
        same(1, $serve->end());
        same(1, preg_match('~^Spindle: ended by a signal, which the event loop did not get to: coroutine #\d+ \(GET /loop, request [0-9a-f]{32}\) computes in .*operated\.php on line 9$~m', $serve->errors()));
        stream_get_contents($loop);
    }
};
$cases['serve: an app that does not return from loading'] = function () {
    // It ends the process.
    $command = fn(string ...$arguments) => shell('env -C ' . WORK . ' ' . implode(' ', array_map(escapeshellarg(...), [dirname(EXTENSION) . '/spindle', 'serve', '--extension', EXTENSION, '--listen', '127.0.0.1:0', ...$arguments])) . ' 2>&1');
    same(1, preg_match('~^no \.env\nspindle: \S+/exits\.php has ended the process while it was loaded \(status 1\)$~', $command(app('exits.php', 'exit("no .env\n");'))));
    app('part.php', 'return fn() => "first";');
    $serve = new Serving('--dev', app('loads.php', 'return require __DIR__ . "/part.php";'));
    same('first', $serve->get('/'));
    app('part.php', 'exit("no .env\n");');
    until(fn() => str_contains($serve->get('/'), 'loads.php has ended the process while it was loaded'));
    app('part.php', 'touch(__DIR__ . "/begun"); while (true);');
    @unlink(WORK . '/begun');
    until(fn() => file_exists(WORK . '/begun'));
    app('part.php', 'return fn() => "second";');
    same('second', $serve->get('/'));
    app('part.php', 'touch(__DIR__ . "/begun"); while (true);');
    @unlink(WORK . '/begun');
    until(fn() => file_exists(WORK . '/begun'));
    $serve->signal();
    same(0, $serve->end());
};
