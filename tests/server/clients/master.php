<?php
/*
 * The command that keeps workers alive: what no one reads, signals without end, and ends that no one has asked for (PROC-2, PROC-3).
 */

declare(strict_types=1);

namespace ServerTests;

/** An app that boots when there is a file `go`, and says so when it begins to; it answers with this text. */
function gated(string $text): string
{
    array_map(fn($file) => @unlink(WORK . "/$file"), ['begun', 'go']);
    return app('gated.php', "file_put_contents(__DIR__ . '/begun', getmypid()); while (!file_exists(__DIR__ . '/go')) usleep(10_000); return fn() => '$text';");
}

/** How many workers serve, as the command says at its admin address. */
function that_serve(): int
{
    return count(array_filter(status()['workers'], fn($worker) => $worker['stage'] === 'serving'));
}

/** How often a line that the command has said contains this. */
function said(Serving $serve, string $text): int
{
    return substr_count($serve->errors(), $text);
}

/**
 * A server whose standard error has a reader that takes the first line and stops, until a line is written to `opens`, when it does what
 * is told. The pipe is full.
 *
 * @return array{Serving, resource}
 */
function unread(string $then, string ...$arguments): array
{
    foreach (['opens', 'errors'] as $pipe) {
        @unlink(WORK . "/$pipe");
        posix_mkfifo(WORK . "/$pipe", 0600);
    }
    $reader = '{ IFS= read -r line; printf "%s\n" "$line" >&2; read < opens; ' . $then . '; } < errors &';
    $serve = new Serving(...$arguments, ...['through' => ['bash', '-c', $reader . ' exec "$@" 2> errors', 'bash']]);
    $pipe = fopen(WORK . '/errors', 'wn'); // only this end of it does not block
    foreach ([4096, 1] as $size) while (fwrite($pipe, str_repeat('x', $size - 1) . "\n") > 0);
    return [$serve, $pipe];
}
$cases['serve: a standard error that no one reads keeps the command from nothing'] = function () {
    [$serve, $pipe] = unread('cat >&2; mv serve.err whole.err', '--workers', '2', '--log', 'off', '--admin', 'unix:' . WORK . '/admin.sock', app('operated.php', OPERATED), '--mode', 'worker');
    $all = workers($serve, 2);
    // The command replaces workers, reloads, and answers.
    posix_kill((int) $all[0], SIGKILL);
    until(fn() => metric('spindle_worker_restarts_total{why="ended"}') === 1.0);
    $all = workers($serve, 2, [$all[0]]);
    same('', shell(escapeshellarg(dirname(EXTENSION) . '/spindle') . ' reload ' . WORK . '/admin.sock'));
    same([], array_intersect($all, workers($serve, 2, $all)));
    // Of too many lines some are lost.
    until(function () use ($serve) {
        for ($i = 0; $i < 100; $i++) {
            $serve->signal(SIGUSR1);
            usleep(500);
        }
        return metric('spindle_lines_lost_total') > 0;
    });
    same('alive', admin('/healthz'));
    file_put_contents(WORK . '/opens', "open\n");
    until(fn() => str_contains($serve->errors(), 'missing here'));
    $lost = (int) metric('spindle_lines_lost_total');
    // Those that come later are said again, and none is torn.
    $serve->signal();
    same(0, $serve->end());
    fclose($pipe);
    until(fn() => file_exists(WORK . '/whole.err'));
    $lines = preg_grep('~^x*$~', file(WORK . '/whole.err', FILE_IGNORE_NEW_LINES), PREG_GREP_INVERT);
    same([], preg_grep('~^(spindle: .*(again|standard output and error|taken over|the old one|standard error|read in time)|Serving .* stops it|Stopping .* at once)$~', $lines, PREG_GREP_INVERT));
    // A reader that is slow loses some more.
    $missing = preg_grep('~^spindle: \d+ lines? (?:is|are) missing here, as standard error was not read in time$~', $lines);
    same([], array_sum(preg_replace('~\D+~', '', $missing)) >= $lost ? [] : [$lost, $missing]);
    same('Stopping when all requests are answered; Ctrl+C stops at once', end($lines));
};
$cases['serve: an error log that no one reads keeps no request from its answer'] = function () {
    $logs = <<<'PHP'
        return function (Async\Http\Request $r) {
            $r->path() === '/slow' ? usleep(300_000) : error_log('logged ' . $r->path() . str_repeat('.', 9000));
            return (string) getmypid();
        };
        PHP;
    foreach (['combined', 'json'] as $format) {
        @unlink(WORK . '/whole.err');
        [$serve, $pipe] = unread('cat >&2; mv serve.err whole.err', '--workers', '2', '--log', $format, '--admin', 'unix:' . WORK . '/admin.sock', '--set', 'slow_request=0.1', app('logs.php', $logs));
        $slow = array_map(fn() => popen("curl -s --max-time 30 '$serve->url/slow'", 'r'), range(1, 4));
        foreach ($slow as $client) same(true, ctype_digit(stream_get_contents($client)));
        same(600, preg_match_all('~^\d+ 200$~m', $serve->get('/[1-600]', "-w ' %{http_code}\n'")));
        until(fn() => metric('spindle_log_lines_lost_total{log="error"}') > 100);
        $lost = (int) metric('spindle_log_lines_lost_total{log="error"}');
        // A reload and a worker that has to be replaced do not wait for it either.
        same('', shell(escapeshellarg(dirname(EXTENSION) . '/spindle') . ' reload ' . WORK . '/admin.sock'));
        same($lost, (int) metric('spindle_log_lines_lost_total{log="error"}'));
        $serve->get('/before');
        file_put_contents(WORK . '/opens', "open\n");
        fclose($pipe);
        $serve->get('/after');
        $serve->signal();
        same(0, $serve->end());
        until(fn() => file_exists(WORK . '/whole.err'));
        foreach (['before', 'after'] as $name) same(1, preg_match("~logged /$name\\.~", file_get_contents(WORK . '/whole.err')));
    }
};
$cases['serve: what is missing in an error log is said in its place'] = function () {
    foreach (['combined' => '~^(\d+) lines are missing here, as standard error was not read in time$~m', 'json' => '~^{"time":"[^"]+","level":"warning","message":"(\d+) lines are missing here, as standard error was not read in time",.*}$~m'] as $format => $pattern) {
        @unlink(WORK . '/whole.err');
        [$serve, $pipe] = unread('cat >&2; mv serve.err whole.err', '--log', $format, '--admin', 'unix:' . WORK . '/admin.sock', app('logs.php', 'return fn() => error_log("logged " . ($GLOBALS["n"] = ($GLOBALS["n"] ?? 0) + 1) . str_repeat(".", 8000)) ? "fine" : "";'));
        same(300, substr_count($serve->get('/[1-300]'), 'fine'));
        until(fn() => metric('spindle_log_lines_lost_total{log="error"}') > 0.0);
        file_put_contents(WORK . '/opens', "open\n");
        fclose($pipe);
        until(function () use ($serve, $pattern, &$found) { return preg_match($pattern, $serve->errors(), $found); });
        same((int) metric('spindle_log_lines_lost_total{log="error"}'), (int) $found[1]);
        // Those that follow are said again.
        same('fine', $serve->get('/'));
        until(fn() => str_contains($serve->errors(), 'logged 301'));
        $serve->signal();
        same(0, $serve->end());
        until(fn() => file_exists(WORK . '/whole.err'));
        same(300, preg_match_all('~logged \d+~', file_get_contents(WORK . '/whole.err')) - 1 + $found[1]);
    }
};
$cases['serve: an access log that no one reads keeps the command from no end'] = function () {
    @unlink(WORK . '/unread');
    posix_mkfifo(WORK . '/unread', 0600);
    $unread = fopen(WORK . '/unread', 'r+'); // it reads nothing
    $serve = new Serving('--workers', '2', '--admin', 'unix:' . WORK . '/admin.sock', app('pid-handler.php', 'return fn() => (string) getmypid();'), through: ['bash', '-c', 'exec "$@" > unread', 'bash']);
    shell("wrk -t1 -c16 -d2s -H 'User-Agent: " . str_repeat('x', 300) . "' $serve->url/");
    same(true, ctype_digit($serve->get('/')));
    same('', shell(escapeshellarg(dirname(EXTENSION) . '/spindle') . ' reload ' . WORK . '/admin.sock'));
    same(true, ctype_digit($serve->get('/')));
    $serve->signal();
    same(0, $serve->end());
    same(0, said($serve, 'it is killed'));
    fclose($unread);
};
$cases['serve: lines whose reader has gone are counted'] = function () {
    $first = 'exec "$@" 2> >(IFS= read -r line; echo "$line" >> serve.err)';
    $serve = new Serving('--log', 'off', '--admin', 'unix:' . WORK . '/admin.sock', app('pid-handler.php', 'return fn() => (string) getmypid();'), through: ['bash', '-c', $first, 'bash']);
    until(function () use ($serve) {
        $serve->signal(SIGUSR1);
        return metric('spindle_lines_lost_total') > 0;
    });
    same('alive', admin('/healthz'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: the last lines wait for a reader, and not for ever'] = function () {
    foreach (['late', 'gone'] as $reader) {
        @unlink(WORK . '/whole.err');
        [$serve, $pipe] = unread('cat >&2; mv serve.err whole.err', '--log', 'off', app('operated.php', OPERATED), '--mode', 'worker');
        $pid = serving($serve);
        $serve->signal();
        until(fn() => !lives($pid));
        $status = $reader === 'gone' ? $serve->end() : null;
        file_put_contents(WORK . '/opens', "open\n");
        fclose($pipe);
        until(fn() => file_exists(WORK . '/whole.err'));
        $has_last = str_ends_with(file_get_contents(WORK . '/whole.err'), "\nStopping when all requests are answered; Ctrl+C stops at once\n");
        same([$reader === 'late', 0], [$has_last, $status ?? $serve->end()]);
    }
};
$cases['serve: signals while it reloads are one further reload, which has the last code'] = function () {
    $serve = new Serving('--workers', '2', '--admin', 'unix:' . WORK . '/admin.sock', app('gated.php', "return fn() => 'first';"));
    $reload = fn() => popen(escapeshellarg(dirname(EXTENSION) . '/spindle') . ' reload ' . WORK . '/admin.sock 2>&1; echo $?', 'r');
    until(fn() => that_serve() === 2); // the other worker is not to boot with what comes now
    gated('second');
    $one = $reload();
    until(fn() => (int) @file_get_contents(WORK . '/begun'));
    $second = file_get_contents(WORK . '/begun');
    app('gated.php', "return fn() => 'third';");
    // Who asks for a reload now hears how that ends which has the code of now.
    $two = $reload();
    until(fn() => said($serve, 'spindle: another reload follows when the new PHP has taken over') === 1);
    for ($i = 0; $i < 20; $i++) {
        $serve->signal(SIGHUP);
        usleep(1000);
    }
    status(); // answered when it has seen the signals
    same('first', $serve->get('/'));
    same(true, lives($second));
    touch(WORK . '/go');
    same("0\n", stream_get_contents($one));
    same("0\n", stream_get_contents($two));
    same(array_fill(0, 10, 'third'), array_map(fn() => $serve->get('/'), range(1, 10)));
    same([2, 2, 1], [said($serve, 'starting PHP anew'), said($serve, "spindle: the new PHP has taken over\n"), said($serve, 'another reload follows')]);
    // One that fails is followed, too.
    gated('fourth');
    $one = $reload();
    until(fn() => (int) @file_get_contents(WORK . '/begun'));
    app('gated.php', "return fn() => 'fifth';");
    $two = $reload();
    until(fn() => said($serve, 'another reload follows') === 2);
    posix_kill((int) file_get_contents(WORK . '/begun'), SIGKILL);
    same("spindle: the new PHP was ended by signal 9 before it could serve: the old one goes on\n1\n", stream_get_contents($one));
    same("0\n", stream_get_contents($two));
    same('fifth', $serve->get('/'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a reload fails when one of its workers crashes that was ready before the others'] = function () {
    $serve = new Serving('--workers', '2', '--admin', 'unix:' . WORK . '/admin.sock', app('gated.php', "return fn() => 'first';"));
    until(fn() => that_serve() === 2);
    foreach ([SIGSEGV => 'was ended by signal 11', SIGTERM => ''] as $signal => $how) {
        @rmdir(WORK . '/one');
        array_map(fn($file) => @unlink(WORK . "/$file"), ['early', 'late', 'go']);
        app('gated.php', "if (@mkdir(__DIR__ . '/one')) file_put_contents(__DIR__ . '/early', getmypid());
            else { file_put_contents(__DIR__ . '/late', getmypid()); while (!file_exists(__DIR__ . '/go')) usleep(10_000); }
            return fn() => 'second';");
        $reload = popen(escapeshellarg(dirname(EXTENSION) . '/spindle') . ' reload ' . WORK . '/admin.sock 2>&1; echo $?', 'r');
        until(fn() => (int) @file_get_contents(WORK . '/late')); // the first one was ready
        $early = file_get_contents(WORK . '/early');
        posix_kill((int) $early, $signal);
        if ($how === '') {
            // One that finishes its requests has another one in its place.
            until(fn() => said($serve, 'accepts no more requests: starting another one') === 1);
            touch(WORK . '/go');
            same("0\n", stream_get_contents($reload));
            same('second', $serve->get('/'));
            break;
        }
        same("spindle: the new PHP $how before it had taken over: the old one goes on\n1\n", stream_get_contents($reload));
        same(array_fill(0, 10, 'first'), array_map(fn() => $serve->get('/'), range(1, 10)));
        same(2, that_serve());
        until(fn() => !lives(file_get_contents(WORK . '/late')));
    }
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: signals without end keep no reload from its end'] = function () {
    $slow = app('slow.php', 'usleep(300_000); return fn() => (string) getmypid();');
    $serve = new Serving('--workers', '2', '--log', 'off', $slow);
    $load = popen("wrk -t1 -c8 -d4s $serve->url/ 2>&1", 'r');
    until(function () use ($serve) {
        $serve->signal(SIGHUP);
        return said($serve, "spindle: the new PHP has taken over\n") >= 3;
    });
    $seen = stream_get_contents($load);
    same([1, 0], [preg_match('~[1-9]\d* requests in~', $seen), preg_match('~Socket errors|Non-2xx~', $seen)]);
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a worker that crashes while it finishes its requests is told of'] = function () {
    $serve = new Serving('--workers', '2', '--admin', 'unix:' . WORK . '/admin.sock', app('operated.php', OPERATED), '--mode', 'worker');
    workers($serve, 2);
    foreach ([SIGSEGV, SIGKILL] as $times => $signal) {
        $wait = begin($serve, '/wait');
        $old = file_get_contents(WORK . '/begun');
        $serve->signal(SIGHUP);
        until(fn() => said($serve, "spindle: the new PHP has taken over\n") === $times + 1);
        same(true, lives($old));
        posix_kill((int) $old, $signal);
        until(fn() => preg_match("~^spindle: worker [12] was ended by signal $signal before it had finished its requests: those are lost$~m", $serve->errors()));
        same($times + 1.0, metric('spindle_worker_restarts_total{why="ended-leaving"}'));
        same(' 000', stream_get_contents($wait));
    }
    // Those that are ended for other reasons are no crashes.
    same(2, said($serve, 'was ended by'));
    $serve->signal();
    same(0, $serve->end());
    // One that crashes while all stop is told of by the status, too: one that has served, and one that had finished before.
    foreach ([false, true] as $reloads) {
        $serve = new Serving(app('operated.php', OPERATED), '--mode', 'worker');
        $wait = begin($serve, '/wait');
        $reloads && $serve->signal(SIGHUP);
        until(fn() => said($serve, "spindle: the new PHP has taken over\n") === (int) $reloads);
        $serve->signal();
        until(fn() => said($serve, 'Stopping') === 1);
        posix_kill((int) file_get_contents(WORK . '/begun'), SIGSEGV);
        same(1, $serve->end());
        same(1, said($serve, 'spindle: PHP was ended by signal 11 before it had finished its requests: those are lost'));
        stream_get_contents($wait);
    }
};
$cases['serve: a fatal error beside a stop is no failure of the stop'] = function () {
    $oom = 'ini_set("memory_limit", "32M"); $held = []; while (true) $held[] = str_repeat("x", 100_000);';
    // Of a request that is still to be answered.
    $serve = new Serving('--workers', '2', '--mode', 'worker', app('fatal.php', "return function () { file_put_contents(__DIR__ . '/begun', getmypid()); while (!file_exists(__DIR__ . '/go')) usleep(10_000); $oom };"));
    $client = begin($serve, '/');
    $serve->signal();
    until(fn() => said($serve, 'Stopping') === 1);
    touch(WORK . '/go');
    same(' 500', stream_get_contents($client));
    same(0, $serve->end());
    // One that has ended PHP before the command gets to its signal.
    $serve = new Serving(app('fatal.php', "return fn() => eval('$oom');"));
    $worker = trim(shell("pgrep -P {$serve->process()}"));
    $serve->signal(SIGSTOP);
    same(' (status 52)', $serve->get('/'));
    until(fn() => !lives($worker));
    $serve->signal();
    $serve->signal(SIGCONT);
    same(0, $serve->end());
    same(1, said($serve, 'Allowed memory size'));
};
$cases['serve: clients that never end what they have begun do not outlast --grace'] = function () {
    $serve = new Serving('--grace', '1', '--workers', '2', app('pid-handler.php', 'return fn() => (string) getmypid();'));
    foreach (["GET / HTTP/1.1\r\nHost", '', "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\r\n"] as $begin) {
        $clients[] = $client = stream_socket_client('tcp' . substr($serve->url, 4));
        fwrite($client, $begin);
    }
    ctype_digit($serve->get('/')) || throw new \Exception($serve->errors());
    $serve->signal();
    foreach ($clients as $client) {
        stream_get_contents($client);
    }
    same(0, $serve->end());
    same(0, said($serve, 'is killed'));
};
$cases['serve: workers that need more than --max-memory from their start are not replaced for ever'] = function () {
    $hungry = '$GLOBALS["held"] = str_repeat("x", 60_000_000); return fn() => (string) getmypid();';
    $serve = new Serving('--max-memory', '40M', '--admin', 'unix:' . WORK . '/admin.sock', app('hungry.php', $hungry));
    until(fn() => said($serve, 'spindle: PHP has reached --max-memory: another one takes its place') === 3);
    same(1, said($serve, 'spindle: workers reach --max-memory soon after their start, so the app needs more: they are replaced for that at growing intervals, of up to a minute'));
    same(true, ctype_digit(serving($serve)));
    until(fn() => max(array_column(status()['workers'], 'seconds')) > 6); // each is at its limit after two
    // Other code is judged anew.
    $serve->signal(SIGHUP);
    until(fn() => said($serve, 'soon after their start') === 2);
    $serve->signal();
    same(0, $serve->end());
};
