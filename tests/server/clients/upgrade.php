<?php
/*
 * `spindle reload --binary`: another `spindle` takes the place of the one that serves, in its process (PROC-2).
 */

declare(strict_types=1);

namespace ServerTests;

const UPGRADED = WORK . '/upgraded/spindle';

/** Has another `spindle` be there, or what is in its place. */
function install(?string $script = null): void
{
    @mkdir(dirname(UPGRADED));
    $script === null ? copy(dirname(EXTENSION) . '/spindle', UPGRADED . '.new') : file_put_contents(UPGRADED . '.new', $script);
    chmod(UPGRADED . '.new', 0755);
    rename(UPGRADED . '.new', UPGRADED);
}

/** `spindle serve` that can be upgraded. */
function upgradable(string|array ...$arguments): Serving
{
    install();
    $arguments['through'] = [...$arguments['through'] ?? [], 'bash', '-c', 'exec "$0" "${@:2}"', UPGRADED];
    return new Serving('--admin', 'unix:' . WORK . '/admin.sock', ...$arguments);
}

/** Returns what the command says that asks for an upgrade, and its status if that is not 0. */
function upgrade(): string
{
    return shell(dirname(EXTENSION) . '/spindle reload --binary ' . WORK . '/admin.sock 2>&1');
}

/** Whether the program that serves is the one that is there. */
function is_upgraded(Serving $serve): bool
{
    return fileinode("/proc/{$serve->process()}/exe") === fileinode(UPGRADED);
}
$cases['serve: upgrades under load lose nothing'] = function () {
    foreach ([[], ['--tls', 'one.pem,one.key']] as $arguments) {
        $serve = upgradable('--workers', '2', '--log', 'off', '--grace', '20', ...$arguments, ...[loaded()]);
        $first = workers($serve, 2);
        loses_nothing($serve, function () use ($serve) {
            for ($i = 1; $i <= 5; $i++) {
                install();
                same(false, is_upgraded($serve));
                same('', upgrade());
                same(true, is_upgraded($serve));
            }
        });
        until(fn() => array_filter($first, lives(...)) === []);
        // It still reloads, and has a PHP that forks its workers.
        $before = workers($serve, 2);
        $serve->signal(SIGHUP);
        same(2, count(workers($serve, 2, $before)));
        same(1, count(zygotes($serve, workers($serve, 2, $before))));
        $serve->signal();
        same(0, $serve->end());
        same([], array_filter($before, lives(...)));
    }
};
$cases['serve: an upgrade keeps the process, its sockets, and programs beside it'] = function () {
    $queue = program('queue', str_replace('CODE', '"one"', QUEUE));
    $often = program('often', 'note("ran");');
    $serve = upgradable('--workers', '2', '--listen', 'unix:' . WORK . '/upgraded.sock', '--run', "queue=$queue", '--every', "often=1s $often", '--log', 'off', app('operated.php', OPERATED), '--mode', 'worker', '--grace', '60');
    $get = fn(string $path) => shell('curl -s --max-time 60 --unix-socket ' . WORK . "/upgraded.sock http://localhost$path");
    until(fn() => noted('queue') !== [] && noted('often') !== []);
    [$process, $file] = [$serve->process(), fileinode(WORK . '/upgraded.sock')];
    // A request that runs is answered by the worker that has it, and a job is finished before the next program begins.
    array_map(fn($name) => @unlink(WORK . "/$name"), ['begun', 'go', 'finish', 'told']);
    $waits = popen('curl -s --max-time 60 --unix-socket ' . WORK . '/upgraded.sock http://localhost/wait', 'r');
    until(fn() => (int) @file_get_contents(WORK . '/begun'));
    $worker = file_get_contents(WORK . '/begun');
    install();
    same('', upgrade());
    same([true, $process, $file], [is_upgraded($serve), $serve->process(), fileinode(WORK . '/upgraded.sock')]);
    until(fn() => file_exists(WORK . '/told'));
    same([1, true, false], [count(noted('queue')), lives($worker), $get('/pid') === $worker]);
    $programs = array_column(status()['programs'], null, 'name');
    same(['ending', 1], [$programs['queue']['stage'], $programs['queue']['starts']]);
    same(true, $programs['often']['starts'] >= 1);
    // Upgraded again meanwhile: it is told once.
    install();
    same('', upgrade());
    same(['ending', 1], [status()['programs'][0]['stage'], count(preg_grep('~^one ~', noted('queue')))]);
    touch(WORK . '/finish');
    until(fn() => count(noted('queue')) === 3);
    same([true, 'ends', true], array_map(fn($line) => $line === 'ends' ? $line : str_starts_with($line, 'one '), noted('queue')));
    touch(WORK . '/go');
    same('waited', stream_get_contents($waits));
    until(fn() => !lives($worker));
    $runs = count(noted('often'));
    until(fn() => count(noted('often')) > $runs);
    $serve->signal();
    same(0, $serve->end());
    same(false, file_exists(WORK . '/upgraded.sock') || file_exists(WORK . '/admin.sock'));
};
$cases['serve: what cannot take over is refused, and the old one goes on'] = function () {
    $serve = upgradable('--workers', '2', app('operated.php', OPERATED), '--mode', 'worker');
    $all = workers($serve, 2);
    $cannot = 'spindle: ' . UPGRADED . ' cannot take over: ';
    $on = ': the old one goes on (status 1)';
    foreach ([
        ["#!/bin/sh\necho 'no such library' >&2\nexit 127", "{$cannot}no such library$on"],
        ["#!/bin/sh\nexit 0", "{$cannot}ended with status 0$on"],
        ["#!/bin/sh\nkill -9 \$\$", "{$cannot}was ended by signal 9$on"],
        ["#!/bin/sh\nSPINDLE_HANDOVER=0:asked exec " . dirname(EXTENSION) . '/spindle "$@"', "{$cannot}this version cannot take over from the one that runs: restart it$on"],
        // A shell between, which has it as a child; and one that closes what is left to it.
        ["#!/bin/sh\n" . dirname(EXTENSION) . '/spindle "$@"', "{$cannot}what is in its place starts it as another process: that has to execute it, as by 'exec'$on"],
        ["#!/usr/bin/python3\nimport os, sys\nos.closerange(3, 100)\nos.execv('" . dirname(EXTENSION) . "/spindle', sys.argv)", "{$cannot}what is in its place closes descriptors before it executes it$on"],
        // It is another one when it has been asked.
        ["#!/bin/sh\ncp " . dirname(EXTENSION) . '/spindle "$0.new" && mv "$0.new" "$0" && exec "$0" "$@"', "{$cannot}another one has taken its place meanwhile: ask again$on"],
    ] as [$script, $message]) {
        install($script);
        same($message, upgrade());
    }
    chmod(UPGRADED, 0644);
    same("spindle: no upgrade: there is no program '" . UPGRADED . "' (status 1)", upgrade());
    unlink(UPGRADED);
    same("spindle: no upgrade: there is no program '" . UPGRADED . "' (status 1)", upgrade());
    // One that is right, with an app that is not.
    install();
    app('operated.php', 'throw new Exception("broken");');
    same(1, preg_match('~cannot take over: .*operated\.php: Exception: broken.*: the old one goes on \(status 1\)$~', upgrade()));
    same([[], false], [array_diff(workers($serve, 2), $all), is_upgraded($serve)]);
    // One that cannot be executed when it is time: the answers of both have come from the same file.
    app('operated.php', OPERATED);
    install("#!/no/such/shell\n");
    same(1, preg_match("~^spindle: no upgrade: .*: No such file or directory \(status 1\)$~", upgrade()));
    install("#!/bin/sh\ncase \"\$*\" in *--check*) chmod 644 '" . UPGRADED . "'; exit 111;; esac");
    same("{$cannot}Permission denied$on", upgrade());
    same([[], false], [array_diff(workers($serve, 2), $all), is_upgraded($serve)]);
    same('405', admin('/upgrade', "-o /dev/null -w '%{http_code}'"));
    // Nothing of that has done harm.
    posix_kill((int) $all[0], SIGKILL);
    same(1, count(array_diff(workers($serve, 2, [$all[0]]), $all)));
    install();
    same('', upgrade());
    same(true, is_upgraded($serve));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: when the new workers do not get ready after an upgrade, the old ones go on'] = function () {
    // It boots for the check, and then never again until it may.
    $boots = 'is_file(__DIR__ . "/checked") && !is_file(__DIR__ . "/boots") ? throw new Exception("not again") : touch(__DIR__ . "/checked");';
    array_map(fn($file) => @unlink(WORK . "/$file"), ['checked', 'boots']);
    $serve = upgradable('--workers', '2', app('operated.php', OPERATED), '--mode', 'worker');
    $all = workers($serve, 2);
    app('operated.php', $boots . OPERATED);
    install();
    same('spindle: the new PHP ended with status 1 before it could serve: the old one goes on (status 1)', upgrade());
    same([true, []], [is_upgraded($serve), array_diff(workers($serve, 2), $all)]);
    // Those that end are replaced, as soon as that is possible.
    posix_kill((int) $all[0], SIGKILL);
    until(fn() => str_contains($serve->errors(), 'starting it again in 0.2 seconds'));
    same($all[1], serving($serve));
    touch(WORK . '/boots');
    $now = workers($serve, 2);
    same(true, in_array($all[1], $now, true));
    same('', upgrade());
    same([], array_intersect(workers($serve, 2, $now), $now));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: what goes wrong after a program has taken over is what goes wrong with a reload'] = function () {
    $module = WORK . '/module.so';
    copy(EXTENSION, $module);
    $serve = upgradable('--workers', '2', '--log-file', 'upgraded.log', '--extension', $module, app('operated.php', OPERATED), '--mode', 'worker');
    $all = workers($serve, 2);
    $waits = begin($serve, '/wait');
    // The module is there when it is asked, and not when it serves.
    install("#!/bin/sh\ncase \"\$*\" in *--check*) ;; *) mv '$module' '$module.away';; esac\nexec '" . dirname(EXTENSION) . "/spindle' \"\$@\"");
    same(1, preg_match('~^spindle: the new PHP cannot be started: no spindle\.so: .*: the old one goes on \(status 1\)$~', upgrade()));
    $serve->signal(SIGUSR1);
    same(['alive', []], [admin('/healthz'), array_diff(workers($serve, 2), $all)]);
    touch(WORK . '/go');
    same('waited 200', stream_get_contents($waits));
    // When it is back, all is as before.
    rename("$module.away", $module);
    posix_kill((int) $all[0], SIGKILL);
    same(1, count(array_diff(workers($serve, 2, [$all[0]]), $all)));
    install();
    same('', upgrade());
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: an upgrade follows a reload that runs'] = function () {
    $serve = upgradable('--workers', '2', app('pid-handler.php', 'return fn() => (string) getmypid();'));
    $first = workers($serve, 2);
    array_map(fn($file) => @unlink(WORK . "/$file"), ['begun', 'go']);
    app('pid-handler.php', 'touch(__DIR__ . "/begun"); while (!file_exists(__DIR__ . "/go")) usleep(10_000); return fn() => (string) getmypid();');
    $reloads = popen(dirname(EXTENSION) . '/spindle reload ' . WORK . '/admin.sock 2>&1; echo $?', 'r');
    until(fn() => file_exists(WORK . '/begun'));
    install();
    $asks = popen(dirname(EXTENSION) . '/spindle reload --binary ' . WORK . '/admin.sock 2>&1; echo $?', 'r');
    until(fn() => str_contains($serve->errors(), 'an upgrade follows'));
    same(false, is_upgraded($serve));
    touch(WORK . '/go');
    same(["0\n", "0\n"], [stream_get_contents($reloads), stream_get_contents($asks)]);
    same(true, is_upgraded($serve));
    until(fn() => substr_count($serve->errors(), "spindle: the new PHP has taken over\n") === 2);
    same([], array_intersect(workers($serve, 2, $first), $first));
    $serve->signal();
    same(0, $serve->end());
    // Before a worker was ready there is nothing that could go on.
    array_map(fn($file) => @unlink(WORK . "/$file"), ['begun', 'go']);
    $serve = popen('cd ' . WORK . ' && exec ' . UPGRADED . ' serve --extension ' . EXTENSION . ' --listen unix:early.sock --admin unix:' . WORK . '/admin.sock pid-handler.php 2>&1', 'r');
    until(fn() => file_exists(WORK . '/begun'));
    same('spindle: no upgrade: no worker has been ready yet: ask again when one is (status 1)', upgrade());
    posix_kill(json_decode(admin('/status'))->pid, SIGHUP); // nor is there when a reload runs
    same('spindle: no upgrade: no worker has been ready yet: ask again when one is (status 1)', upgrade());
    posix_kill(json_decode(admin('/status'))->pid, SIGTERM);
    pclose($serve);
};
$cases['serve: an upgrade that follows a reload leaves those that serve'] = function () {
    // The second one hangs, once.
    array_map(fn($file) => @unlink(WORK . "/$file"), ['boots', 'begun']);
    $hangs = '$lock = fopen(__DIR__ . "/boots", "c+"); flock($lock, LOCK_EX); $boots = (int) fgets($lock) + 1; rewind($lock); fwrite($lock, "$boots\n"); flock($lock, LOCK_UN);
        if ($boots === 2) { touch(__DIR__ . "/begun"); while (true) usleep(10_000); } ';
    $serve = upgradable('--workers', '2', app('operated.php', OPERATED), '--mode', 'worker');
    $old = workers($serve, 2);
    app('operated.php', $hangs . OPERATED);
    $serve->signal(SIGHUP);
    until(fn() => file_exists(WORK . '/begun'));
    array_map(fn($pid) => posix_kill((int) $pid, SIGKILL), $old);
    until(fn() => array_filter($old, lives(...)) === []);
    $serves = serving($serve);
    install();
    $asks = popen(dirname(EXTENSION) . '/spindle reload --binary ' . WORK . '/admin.sock 2>&1; echo $?', 'r');
    stream_set_blocking($asks, false);
    for ($answer = ''; $answer === ''; $answer = (string) stream_get_contents($asks)) {
        same(true, ctype_digit(serving($serve)));
        is_upgraded($serve) || same($serves, serving($serve));
    }
    same("0\n", $answer);
    same([true, 1], [is_upgraded($serve), substr_count($serve->errors(), 'it is ended for the upgrade that follows')]);
    // As many as may ask at a time.
    $clients = array_map(fn() => stream_socket_client('unix://' . WORK . '/admin.sock'), range(1, 64));
    array_map(fn($client) => fwrite($client, "POST /upgrade HTTP/1.1\r\n\r\n"), $clients);
    same(['HTTP/1.1 200 OK' => 64], array_count_values(array_map(fn($client) => trim((string) fgets($client)), $clients)));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: settings that are wrong when a program takes over are waited for'] = function () {
    $right = "app = '../pid-handler.php'\nlisten = 'unix:" . WORK . "/upgraded.sock'\nadmin = 'unix:" . WORK . "/admin.sock'\n";
    app('pid-handler.php', 'return fn() => (string) getmypid();');
    $breaks = "#!/bin/sh\ncase \"\$*\" in *--check*) ;; *) echo wrong >> '" . WORK . "/conf/spindle.toml';; esac\nexec '" . dirname(EXTENSION) . "/spindle' \"\$@\"";
    $get = fn() => shell('curl -s --max-time 60 --unix-socket ' . WORK . '/upgraded.sock http://localhost/');
    foreach ([true, false] as $recovers) {
        configured($right);
        install();
        $serve = new Serving('--config', 'conf/spindle.toml', through: ['bash', '-c', 'exec "$0" "${@:2}"', UPGRADED]);
        $worker = $get();
        install($breaks);
        $asks = popen(dirname(EXTENSION) . '/spindle reload --binary ' . WORK . '/admin.sock 2>&1; echo $?', 'r');
        until(fn() => substr_count($serve->errors(), 'spindle.toml') >= 2);
        $open = count(scandir("/proc/{$serve->process()}/fd"));
        // Now and then it has a few more, for a moment.
        until(fn() => substr_count($serve->errors(), 'spindle.toml') >= 6);
        same([true, $worker], [count(scandir("/proc/{$serve->process()}/fd")) < $open + 20, $get()]);
        $serve->signal(SIGUSR1);
        $serve->signal(SIGHUP);
        if ($recovers) {
            configured($right);
            same("0\n", stream_get_contents($asks));
            same(true, ctype_digit($get()));
        }
        $serve->signal();
        same($recovers ? 0 : 1, $serve->end());
        pclose($asks);
        until(fn() => !lives($worker));
        same(false, file_exists(WORK . '/upgraded.sock') || file_exists(WORK . '/admin.sock'));
    }
};
$cases['serve: an upgrade serves the release that a symbolic link leads to now'] = function () {
    foreach (['one', 'two', 'three'] as $release) {
        @mkdir(WORK . "/upgraded-$release");
        file_put_contents(WORK . "/upgraded-$release/app.php", "<?php return fn() => '$release';");
    }
    $switch = function (string $release) { symlink("upgraded-$release", WORK . '/upgraded-next'); rename(WORK . '/upgraded-next', WORK . '/upgraded-current'); };
    $switch('one');
    $serve = upgradable('app.php', through: ['bash', '-c', 'cd upgraded-current && exec "$@"', 'bash']);
    same('one', $serve->get('/'));
    foreach (['two', 'three'] as $release) {
        $switch($release);
        install();
        same('', upgrade());
        same([true, $release], [is_upgraded($serve), $serve->get('/')]);
    }
    shell('rm -r ' . WORK . '/upgraded-one ' . WORK . '/upgraded-two');
    $switch('three');
    install();
    same('', upgrade());
    same('three', $serve->get('/'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: an upgrade keeps what was counted, and leaves nothing behind'] = function () {
    @mkdir(WORK . '/upgraded-tmp');
    // PHP leaves a process behind when it is looked for, which has none of the sockets.
    file_put_contents(WORK . '/leaves-php', "#!/bin/sh\n[ \"\$2\" = -v ] && (exec sleep 600 > /dev/null 2>&1 & echo \$! >> " . WORK . "/left-behind)\nexec " . PHP_BINARY . ' "$@"');
    chmod(WORK . '/leaves-php', 0755);
    @unlink(WORK . '/left-behind');
    $serve = upgradable('--workers', '2', '--max-requests', '30', '--php', WORK . '/leaves-php', app('operated.php', OPERATED), '--mode', 'worker', through: ['env', 'TMPDIR=' . WORK . '/upgraded-tmp']);
    $descriptors = fn() => count(scandir("/proc/{$serve->process()}/fd"));
    $all = workers($serve, 2);
    for ($i = 0; $i < 10; $i++) serving($serve);
    $before = [metric('spindle_requests_total'), status()['seconds']];
    same(true, $before[0] >= 10);
    until(function () use ($descriptors, &$open, &$last) { [$last, $open] = [$open, $descriptors()]; return $last === $open; });
    // A worker ends while a shell is there, which learns of its end.
    install("#!/bin/sh\ncase \"\$*\" in *--check*) ;; *) kill -9 $all[0]; x=\$(sleep 0.2);; esac\nexec '" . dirname(EXTENSION) . "/spindle' \"\$@\"");
    same('', upgrade());
    for ($i = 0; $i < 4; $i++) {
        install();
        same('', upgrade());
    }
    same([true, true, true], [metric('spindle_requests_total') >= $before[0], status()['seconds'] >= $before[1], metric('spindle_reloads_total{result="done"}') === 5.0]);
    until(fn() => array_column(status()['workers'], 'stage') === ['serving', 'serving']);
    until(fn() => $descriptors() === $open);
    foreach (file(WORK . '/left-behind', FILE_IGNORE_NEW_LINES) as $left) {
        same([], array_values(preg_grep('~socket~', array_map(readlink(...), glob("/proc/$left/fd/*")))));
        posix_kill((int) $left, SIGKILL);
    }
    // Old workers that go on have their limits.
    $old = workers($serve, 2);
    app('operated.php', 'if (($argv[0] ?? "") !== "" && is_file(__DIR__ . "/asked-once")) { if (!is_file(__DIR__ . "/may")) throw new \Exception("not now"); } touch(__DIR__ . "/asked-once");' . OPERATED);
    array_map(fn($file) => @unlink(WORK . "/$file"), ['asked-once', 'may']);
    install();
    same(true, str_contains(upgrade(), 'the old one goes on'));
    touch(WORK . '/may');
    until(fn() => array_diff(workers($serve, 2), $old) !== []);
    // A stop while a program is asked leaves no file.
    array_map(fn($file) => @unlink(WORK . "/$file"), ['begun', 'go']);
    app('operated.php', 'touch(__DIR__ . "/begun"); while (true) usleep(10_000);');
    $asks = popen(dirname(EXTENSION) . '/spindle reload --binary ' . WORK . '/admin.sock 2>&1', 'r');
    until(fn() => file_exists(WORK . '/begun'));
    $serve->signal();
    same(0, $serve->end());
    pclose($asks);
    until(fn() => scandir(WORK . '/upgraded-tmp') === ['.', '..']);
};
$cases['serve: signals during an upgrade are not lost'] = function () {
    for ($round = 0; $round < 12; $round++) {
        $serve = upgradable('--workers', '2', '--log', 'off', app('pid-handler.php', 'return fn() => (string) getmypid();'));
        $all = workers($serve, 2);
        $asks = popen(dirname(EXTENSION) . '/spindle reload --binary ' . WORK . '/admin.sock 2>&1', 'r');
        // Before it begins, while the program is asked, when that takes over, and after it has.
        [$line, $rest] = [['', 0], ['is asked', 0], ['takes over', 0], ['starting PHP anew', 0], ['is asked', $round * 20_000]][$round % 5];
        until(fn() => str_contains($serve->errors(), $line));
        usleep($rest);
        $serve->signal();
        same(0, $serve->end());
        pclose($asks);
        until(fn() => array_filter($all, lives(...)) === []);
    }
    // A reload that is asked for meanwhile has the last code, and its outcome is told.
    $serve = upgradable('--workers', '2', app('pid-handler.php', 'return fn() => (string) getmypid();'));
    install("#!/bin/sh\ncase \"\$*\" in *--check*) touch asked; while [ ! -e go ]; do sleep 0.01; done; exit 1;; esac");
    array_map(fn($file) => @unlink(WORK . "/$file"), ['asked', 'go']);
    $asks = popen(dirname(EXTENSION) . '/spindle reload --binary ' . WORK . '/admin.sock 2>&1', 'r');
    until(fn() => file_exists(WORK . '/asked'));
    $reloads = popen(dirname(EXTENSION) . '/spindle reload ' . WORK . '/admin.sock 2>&1; echo $?', 'r');
    until(fn() => str_contains($serve->errors(), 'another reload follows'));
    app('pid-handler.php', 'return fn() => "new";');
    touch(WORK . '/go');
    same(true, str_contains(stream_get_contents($asks), 'cannot take over: ended with status 1: the old one goes on'));
    same("0\n", stream_get_contents($reloads));
    same('new', $serve->get('/'));
    // So it has when the program takes over.
    install();
    $asks = popen(dirname(EXTENSION) . '/spindle reload --binary ' . WORK . '/admin.sock 2>&1; echo $?', 'r');
    until(fn() => substr_count($serve->errors(), 'is asked') === 2);
    $serve->signal(SIGHUP);
    same("0\n", stream_get_contents($asks));
    same(true, is_upgraded($serve));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: systemd sees the same service after an upgrade'] = function () {
    $manager = new Manager(WORK . '/notify');
    $socket = stream_socket_server('tcp://127.0.0.1:0');
    $serve = upgradable('--workers', '2', '--listen', 'systemd:', app('pid-handler.php', 'return fn() => (string) getmypid();'), passes: [$socket],
        through: ['env', "NOTIFY_SOCKET=$manager->name", 'WATCHDOG_USEC=100000', 'LISTEN_FDS=1', 'bash', '-c', 'LISTEN_PID=$$ exec "$0" "$@"']);
    until(fn() => $manager->hears('READY=1'));
    $first = workers($serve, 2);
    for ($i = 2; $i <= 3; $i++) {
        install();
        same('', upgrade());
        until(fn() => $manager->hears('READY=1', $i));
        same("READY=1\nSTATUS=the new PHP has taken over\n", end($manager->told));
        same(true, is_upgraded($serve));
    }
    same(true, $manager->hears('RELOADING=1'));
    [$signs, $manager->signs] = [$manager->signs, 0];
    until(fn() => $manager->hears('READY=1') && $manager->signs >= 3);
    same([], array_intersect(workers($serve, 2, $first), $first));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a directory, upgraded again and again under load'] = function () {
    $serve = upgradable(folder_of_scripts('upgraded-folder'), '--children', '2', '--workers', '2', '--log', 'off');
    [$upgrades, $asks] = [0, null];
    $before = fpm($serve);
    $answers = load("$serve->url/count.php", function () use ($serve, &$upgrades, &$asks, &$before) {
        if ($asks && !proc_get_status($asks)['running']) {
            $asks = null;
        }
        $now = fpm($serve);
        if (!$asks && count($now) === 1 && ($upgrades === 0 || $now !== $before)) {
            if ($upgrades === 4) {
                return true;
            }
            $before = $now;
            $upgrades++;
            install();
            $asks = proc_open([dirname(EXTENSION) . '/spindle', 'reload', '--binary', WORK . '/admin.sock'], [], $pipes);
        }
        return false;
    });
    same(['200 counted'], array_keys($answers));
    same(true, is_upgraded($serve));
    $socket = glob(sys_get_temp_dir() . '/spindle-fpm.*');
    $serve->signal();
    same(0, $serve->end());
    same(count($socket) - 1, count(glob(sys_get_temp_dir() . '/spindle-fpm.*')));
};
