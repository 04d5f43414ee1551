<?php
/*
 * `spindle serve --run` and `--every`: programs beside the server (PROC-5).
 */

declare(strict_types=1);

namespace ServerTests;

const FINE = 'return fn() => (string) getmypid();';

/** Writes a program, removes what earlier ones have left, and returns its command. */
function program(string $name, string $code): string
{
    array_map(fn($file) => @unlink(WORK . "/$file"), ["$name.log", 'told', 'go', 'finish']);
    app("$name.php", "function note(string \$text) { file_put_contents(__DIR__ . '/$name.log', \"\$text\\n\", FILE_APPEND); }\n$code");
    return PHP_BINARY . " -n $name.php";
}

/** @return list<string> the lines that a program has noted */
function noted(string $name): array
{
    return @file(WORK . "/$name.log", FILE_IGNORE_NEW_LINES) ?: [];
}

/** A worker of a queue: it finishes its job when it is told to end, which takes until there is the file `finish`. Another one at a time fails. */
const QUEUE = <<<'PHP'
    $lock = fopen(__DIR__ . '/lock', 'c');
    flock($lock, LOCK_EX | LOCK_NB) || note('twice');
    pcntl_async_signals(true);
    pcntl_signal(SIGTERM, function () {
        touch(__DIR__ . '/told');
        while (!file_exists(__DIR__ . '/finish')) usleep(10_000);
        note('ends');
        exit;
    });
    note(CODE . ' ' . getmypid());
    while (true) usleep(10_000);
    PHP;

/** @return list<string> what programs have written, in lines that begin with this */
function lines(Serving $serve, string $begin): array
{
    return array_values(preg_grep('~^' . preg_quote($begin) . '~', explode("\n", $serve->errors())));
}

function refusal(string ...$arguments): string
{
    $command = [dirname(EXTENSION) . '/spindle', 'serve', '--extension', EXTENSION, '--listen', '127.0.0.1:0', ...$arguments];
    return shell('env -C ' . WORK . ' ' . implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1');
}
$cases['serve: programs that cannot be are refused before anything is served'] = function () {
    app('fine.php', 'touch(__DIR__ . "/loaded"); return fn() => "";');
    @unlink(WORK . '/loaded');
    foreach ([
        [['--run', 'queue=no-such-program work'], "--run queue: there is no program 'no-such-program'"],
        [['--run', 'queue=./fine.php'], "--run queue: there is no program './fine.php'"],
        [['--every', 'clean=5m /none/clean'], "--every clean: there is no program '/none/clean'"],
        [['--run', 'a=true', '--every', 'a=5m true'], '--every a: there is another one of this name'],
        [['--run', 'a=true | true'], "--run a: '|' is for a shell, and none runs the command: write sh -c '…'"],
        [['--every', 'a=5 true'], '--every a: TIME is as in 30s, 5m or 1h, up to a year'],
    ] as [$arguments, $message]) {
        same("spindle: $message (status 1)", refusal('fine.php', ...$arguments));
    }
    same(false, file_exists(WORK . '/loaded'));
};
$cases['serve: programs begin when the first worker is ready, and never for an app that is broken'] = function () {
    $command = program('first', 'note("begun"); while (true) usleep(10_000);');
    app('broken.php', 'throw new Exception("broken");');
    same(true, str_contains(refusal('broken.php', '--run', "first=$command"), 'Exception: broken'));
    same([], noted('first'));
    $serve = new Serving('--run', "first=$command", app('slow.php', 'usleep(200_000); file_put_contents(__DIR__ . "/first.log", "loaded\n", FILE_APPEND); ' . FINE));
    until(fn() => count(noted('first')) === 2);
    same(['loaded', 'begun'], noted('first'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a program that ends is started again, after pauses that grow'] = function () {
    $command = program('fails', 'note((string) microtime(true)); exit(3);');
    $serve = new Serving('--run', "fails=$command", '--log', 'off', app('fine.php', FINE));
    until(fn() => count(noted('fails')) >= 5);
    until(fn() => count(lines($serve, 'spindle: fails ')) >= 4);
    $pauses = [0.1, 0.2, 0.4, 0.8];
    same(array_map(fn($pause) => "spindle: fails ended with status 3: starting it again in $pause seconds", $pauses), array_slice(lines($serve, 'spindle: fails '), 0, 4));
    $times = array_map(floatval(...), noted('fails'));
    foreach ($pauses as $i => $pause) {
        same(true, $times[$i + 1] - $times[$i] >= $pause);
    }
    same(true, ctype_digit(serving($serve)));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a program that has run for a while is started again at once'] = function () {
    $command = program('lives', 'note("begun"); while (!file_exists(__DIR__ . "/go")) usleep(10_000); unlink(__DIR__ . "/go");');
    $serve = new Serving('--run', "lives=$command", '--admin', 'unix:' . WORK . '/admin.sock', app('fine.php', FINE));
    for ($i = 1; $i <= 3; $i++) {
        until(fn() => count(noted('lives')) === $i && status()['programs'][0]['seconds'] >= 1.1);
        touch(WORK . '/go');
        until(fn() => count(lines($serve, 'spindle: lives ')) === $i);
    }
    same(array_fill(0, 3, 'spindle: lives ended with status 0: starting it again in 0.1 seconds'), lines($serve, 'spindle: lives '));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: programs are tables of spindle.toml'] = function () {
    $mail = program('mail', 'note("$argv[1] " . getmypid()); while (true) usleep(10_000);');
    $clean = program('clean', 'note("cleaned");');
    app('fine.php', FINE);
    $head = "app = '../fine.php'\nlisten = '127.0.0.1:0'\nadmin = 'unix:../admin.sock'\n";
    $file = configured("$head [process.mail]\ncommand = '$mail \"of a queue\"'\ncount = 2\n[every.clean]\ncommand = '$clean'\ntime = '1s'\n[process.true]\ncommand = 'sleep 600'\n");
    $serve = new Serving('--config', $file);
    until(fn() => count(noted('mail')) === 2 && noted('clean'));
    same([['mail', 1, null], ['mail', 2, null], ['true', 1, null], ['clean', 1, 1]], array_map(fn($program) => [$program['name'], $program['number'], $program['every_seconds']], status()['programs']));
    same(true, in_array('of a queue ' . status()['programs'][1]['pid'], noted('mail'), true));
    // They are what --run and --every say, and replaced by those; and fixed as those are.
    file_put_contents(WORK . "/$file", str_replace('count = 2', 'count = 3', file_get_contents(WORK . "/$file")));
    $serve->signal(SIGHUP);
    until(fn() => str_contains($serve->errors(), "spindle: another value of 'run' needs a restart: the old PHP goes on\n"));
    $serve->signal();
    same(0, $serve->end());
    $serve = new Serving('--config', $file, '--run', 'other=sleep 600');
    until(fn() => array_column(status()['programs'], 'name') === ['other', 'clean']);
    $serve->signal();
    same(0, $serve->end());
    foreach ([
        ["[proces.mail]\ncommand = 'true'", "unknown key 'proces' in conf/spindle.toml, line 4: did you mean 'process'?"],
        ["[process.mail]\ncomand = 'true'", "unknown key 'comand' in conf/spindle.toml, line 5: did you mean 'command'?"],
        ["[process.mail]\ncount = 2", 'process.mail in conf/spindle.toml, line 4 has no command'],
        ["[process.mail]\ncommand = 'true'\ncount = 0", '--run mail*0: COUNT is a number, from 1 to 1024'],
        ["[process.mail]\ncommand = 'true'\ncount = '2'", 'process.mail in conf/spindle.toml, line 4 takes a number as its count, not a value of type string'],
        ["[process.mail]\ncommand = ['php', 'x.php']", 'process.mail in conf/spindle.toml, line 4 takes a text as its command, not a value of type array'],
        ["[every.clean]\ncommand = 'true'\ntime = 5", 'every.clean in conf/spindle.toml, line 4 takes a text as its time, not a value of type integer'],
        ["[process.mail]\ncommand = ''", '--run mail: there is no COMMAND'],
        ["[process.'a=b']\ncommand = 'true'", 'process.a=b in conf/spindle.toml, line 4 is no name'],
        ["process = 'true'", 'process in conf/spindle.toml, line 4 takes tables: [process.NAME]'],
        ["process.mail = 'true'", 'process.mail in conf/spindle.toml, line 4 is no table'],
        ["[every.clean]\ncommand = 'true'", 'every.clean in conf/spindle.toml, line 4 has no time, as 30s, 5m or 1h'],
        ["[every.clean]\ncommand = 'true'\ntime = '5m rm'", 'every.clean in conf/spindle.toml, line 4 has no time, as 30s, 5m or 1h'],
        ["[every.clean]\ncommand = 'true'\ntime = '5'", '--every clean: TIME is as in 30s, 5m or 1h, up to a year'],
        ["[every.clean]\ncommand = 'true'\ncount = 5", "unknown key 'count' in conf/spindle.toml, line 6: 'spindle serve --help' lists them"],
    ] as [$text, $message]) {
        same("spindle: $message (status 1)", shell('env -C ' . WORK . ' ' . dirname(EXTENSION) . '/spindle serve --config ' . configured("$head$text\n")));
    }
};
$cases['serve: several processes of a program, with names, signals, numbers and their own output'] = function () {
    $command = program('mail', 'fwrite(STDOUT, "from mail\n"); fwrite(STDERR, "to stderr\n"); note((string) getmypid()); while (true) usleep(10_000);');
    $admin = ['--admin', 'unix:' . WORK . '/admin.sock'];
    $serve = new Serving('--run', "mail*2=$command", '--every', 'hourly=1h true', '--log', 'off', ...$admin, ...[app('fine.php', FINE)]);
    until(fn() => count(noted('mail')) === 2);
    [$one, $two, $hourly] = status()['programs'];
    same([['mail', 1, 'running', 1, 0], ['mail', 2, 'running', 1, 0], ['hourly', 1, 'waiting', 0, 0]],
        array_map(fn($program) => [$program['name'], $program['number'], $program['stage'], $program['starts'], $program['restarts']], [$one, $two, $hourly]));
    same([null, 3600], [$hourly['pid'], $hourly['every_seconds']]);
    same(true, $one['pid'] !== $two['pid'] && in_array((string) $two['pid'], noted('mail'), true));
    same([2.0, 0.0, 0.0], [metric('spindle_programs{program="mail"}'), metric('spindle_programs{program="hourly"}'), metric('spindle_program_restarts_total{program="mail"}')]);
    posix_kill($two['pid'], SIGKILL);
    until(fn() => count(noted('mail')) === 3);
    same(['spindle: mail 2 was ended by signal 9: starting it again in 0.1 seconds'], lines($serve, 'spindle: mail'));
    until(fn() => metric('spindle_programs{program="mail"}') === 2.0);
    same([1.0, 1.0, 3.0], array_map(metric(...), ['spindle_program_restarts_total{program="mail"}', 'spindle_program_failures_total{program="mail"}', 'spindle_program_starts_total{program="mail"}']));
    same(str_repeat("from mail\n", 3), file_get_contents(WORK . '/serve.out'));
    same(3, count(lines($serve, 'to stderr')));
    $serve->signal();
    same(0, $serve->end());
    same([], array_filter(noted('mail'), lives(...)));
};
$cases['serve: a stop under load ends programs when their job is done'] = function () {
    $command = program('queue', "const CODE = 'old';\n" . QUEUE);
    $serve = new Serving('--workers', '2', '--run', "queue=$command", '--mode', 'worker', '--log', 'off', app('operated.php', OPERATED));
    until(fn() => count(noted('queue')) === 1);
    $wait = begin($serve, '/wait');
    $load = popen("exec wrk -t1 -c8 -d60s $serve->url/pid >/dev/null", 'r');
    until(fn() => ctype_digit(serving($serve)));
    $all = workers($serve, 2);
    $serve->signal();
    until(fn() => file_exists(WORK . '/told'));
    touch(WORK . '/go');
    same('waited 200', stream_get_contents($wait));
    // The workers are gone, and the command waits for the job.
    until(fn() => array_filter($all, lives(...)) === []);
    same(true, lives(substr(noted('queue')[0], 4)));
    touch(WORK . '/finish');
    same(0, $serve->end());
    same('ends', noted('queue')[1]);
    same([], lines($serve, 'spindle: queue'));
    posix_kill((int) shell('pgrep -f ' . escapeshellarg("^wrk .* $serve->url/pid")), SIGTERM);
    pclose($load);
};
$cases['serve: a reload waits for no program, and the next one runs new code when the old one has ended'] = function () {
    $command = program('queue', "const CODE = 'old';\n" . QUEUE);
    $serve = new Serving('--run', "queue=$command", '--mode', 'worker', '--admin', 'unix:' . WORK . '/admin.sock', app('operated.php', OPERATED));
    until(fn() => count(noted('queue')) === 1);
    $old = substr(noted('queue')[0], 4);
    // A reload that fails leaves it alone.
    app('operated.php', 'throw new Exception("broken");');
    same('409', admin('/reload', "-X POST -o /dev/null -w '%{http_code}'"));
    same([true, 'running'], [lives($old), status()['programs'][0]['stage']]);
    app('operated.php', OPERATED);
    app('queue.php', str_replace("'old'", "'new'", preg_replace('~^<\?php\n~', '', file_get_contents(WORK . '/queue.php'))));
    same('200', admin('/reload', "-X POST -o /dev/null -w '%{http_code}'"));
    until(fn() => file_exists(WORK . '/told'));
    same([true, 'ending'], [lives($old), status()['programs'][0]['stage']]);
    touch(WORK . '/finish');
    until(fn() => count(noted('queue')) === 3);
    same(['ends', 'new'], [noted('queue')[1], substr(noted('queue')[2], 0, 3)]);
    same(['spindle: queue ended with status 0: starting it with the new code'], lines($serve, 'spindle: queue'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a reload starts what could not be started at once'] = function () {
    $command = program('fails', 'note("failed"); exit(1);');
    $serve = new Serving('--run', "fails=$command", app('fine.php', FINE));
    until(fn() => count(lines($serve, 'spindle: fails ')) >= 6);
    program('fails', 'note("fine"); while (true) usleep(10_000);');
    // It would be started again in 3.2 seconds, and the next time in 0.1.
    $serve->signal(SIGHUP);
    until(fn() => noted('fails') === ['fine']);
    posix_kill((int) trim(shell('pgrep -f ' . escapeshellarg("^$command"))), SIGKILL);
    until(fn() => str_contains($serve->errors(), 'fails was ended by signal 9: starting it again in 0.1 seconds'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a program that ignores SIGTERM is killed, and its children with it'] = function () {
    $code = 'pcntl_signal(SIGTERM, SIG_IGN); note((string) getmypid()); if (pcntl_fork() === 0) note((string) getmypid()); while (true) sleep(1);';
    foreach (['stop', 'at once', 'reload'] as $how) {
        $serve = new Serving('--run', 'deaf=' . program('deaf', $code), '--grace', $how === 'at once' ? '600' : '1', app('fine.php', FINE));
        until(fn() => count(noted('deaf')) === 2);
        $all = noted('deaf');
        $serve->signal($how === 'reload' ? SIGHUP : SIGTERM);
        if ($how === 'at once') {
            until(fn() => str_contains($serve->errors(), 'Stopping'));
            $serve->signal();
        }
        until(fn() => str_contains($serve->errors(), "spindle: deaf does not end: it is killed\n"));
        until(fn() => array_filter($all, lives(...)) === []);
        if ($how === 'reload') {
            until(fn() => str_contains($serve->errors(), 'spindle: deaf was ended by signal 9: starting it with the new code'));
            until(fn() => count(noted('deaf')) === 4);
            $serve->signal();
            until(fn() => str_contains($serve->errors(), 'Stopping'));
            $serve->signal();
        }
        same(1, $serve->end());
    }
};
$cases['serve: no program outlives a command that is killed'] = function () {
    $command = program('deaf', 'pcntl_signal(SIGTERM, SIG_IGN); note((string) getmypid()); while (true) sleep(1);');
    $serve = new Serving('--run', "deaf*3=$command", '--every', "often=1s $command", app('fine.php', FINE));
    until(fn() => count(noted('deaf')) === 4);
    same(4, count(array_filter(noted('deaf'), lives(...))));
    $serve->signal(SIGKILL);
    until(fn() => array_filter(noted('deaf'), lives(...)) === []);
};
$cases['serve: programs have no descriptors of the server, and a group of their own'] = function () {
    $list = 'foreach (glob("/proc/self/fd/*") as $fd) if (basename($fd) > 2 && ($at = @readlink($fd)) && !str_ends_with($at, "/fd") && $at !== __FILE__) note("has $at");
        note(getenv("LISTEN_FDS") . getenv("NOTIFY_SOCKET") . getenv("OTHER") . (posix_getpgid(0) === getmypid() ? " alone" : ""));
        note(stream_get_contents(STDIN)); while (true) usleep(10_000);';
    // One that the command was started with, besides those that it opens itself.
    $through = ['bash', '-c', 'exec 7< /etc/passwd; LISTEN_FDS=1 NOTIFY_SOCKET=/none OTHER=kept exec "$@"', 'bash'];
    $command = str_replace(' -n ', ' -n -d extension=posix ', program('lists', $list));
    $serve = new Serving('--run', "lists=$command", '--workers', '2', '--admin', 'unix:' . WORK . '/admin.sock', app('fine.php', FINE), through: $through);
    until(fn() => count(noted('lists')) >= 2);
    same(['kept alone', ''], noted('lists'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: as the first process of a container it waits for what programs leave behind'] = function () {
    $command = "sh -c 'echo \$\$ >> orphans; (sh -c \"echo \\\$\\\$ >> orphans; exec true\" &); exec sleep 1000'";
    @unlink(WORK . '/orphans');
    $serve = new Serving('--run', "leaves=$command", app('fine.php', FINE), through: ['python3', '-c', 'import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1); os.execv(sys.argv[1], sys.argv[1:])']);
    for ($i = 1; $i <= 3; $i++) {
        until(fn() => count($pids = @file(WORK . '/orphans', FILE_IGNORE_NEW_LINES) ?: []) === 2 * $i);
        $pids = file(WORK . '/orphans', FILE_IGNORE_NEW_LINES);
        until(fn() => count(array_filter($pids, fn($pid) => file_exists("/proc/$pid"))) === 1);
        $program = current(array_filter($pids, fn($pid) => file_exists("/proc/$pid")));
        posix_kill((int) $program, SIGTERM);
        until(fn() => count(lines($serve, 'spindle: leaves was ended by signal 15: starting it again')) === $i);
    }
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve --every: it runs after each interval, and never twice at a time'] = function () {
    $command = program('cron', '$lock = fopen(__DIR__ . "/lock", "c"); flock($lock, LOCK_EX | LOCK_NB) || note("twice"); note((string) microtime(true));
        while (!file_exists(__DIR__ . "/go")) usleep(10_000); exit(2);');
    $app = app('loaded.php', 'file_put_contents(__DIR__ . "/loaded", microtime(true)); ' . FINE);
    $serve = new Serving('--every', "cron=1s $command", '--admin', 'unix:' . WORK . '/admin.sock', $app);
    // It is still the first run when several times have passed.
    until(fn() => count(noted('cron')) === 1 && status()['programs'][0]['seconds'] >= 2.5);
    same(1, count(noted('cron')));
    same(true, (float) noted('cron')[0] - (float) file_get_contents(WORK . '/loaded') >= 1.0);
    touch(WORK . '/go');
    until(fn() => count(noted('cron')) >= 3);
    same([], array_keys(noted('cron'), 'twice'));
    until(fn() => count(lines($serve, 'spindle: cron')) >= 2);
    same(['spindle: cron ended with status 2'], array_values(array_unique(lines($serve, 'spindle: cron'))));
    same(true, metric('spindle_program_failures_total{program="cron"}') >= 2.0);
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve --every: at a stop a run is waited for within --grace'] = function () {
    foreach (['600' => [0, 'ends'], '1' => [1, null]] as $grace => [$status, $ends]) {
        $command = program('cron', 'note("begins"); while (!file_exists(__DIR__ . "/go")) usleep(10_000); note("ends");');
        $serve = new Serving('--every', "cron=1s $command", '--grace', (string) $grace, app('fine.php', FINE));
        until(fn() => noted('cron') === ['begins']);
        $serve->signal();
        until(fn() => @stream_socket_client(str_replace('http', 'tcp', $serve->url)) === false);
        $ends && touch(WORK . '/go');
        same($status, $serve->end());
        same(['begins', ...array_filter([$ends])], noted('cron'));
        same($status, count(lines($serve, 'spindle: cron does not end: it is killed')));
    }
};
$cases['serve --dev: what runs beside it runs new code, too'] = function () {
    $command = program('queue', 'note("old"); while (true) usleep(10_000);');
    $serve = new Serving('--dev', '--run', "queue=$command", app('fine.php', FINE));
    until(fn() => noted('queue') === ['old']);
    $pid = serving($serve);
    app('queue.php', 'file_put_contents(__DIR__ . "/queue.log", "new"); while (true) usleep(10_000);');
    app('fine.php', FINE . ' // changed');
    until(fn() => noted('queue') === ['new']);
    until(fn() => serving($serve) !== $pid);
    $serve->signal();
    same(0, $serve->end());
};
