<?php
/*
 * `spindle serve` with options in a file.
 */

declare(strict_types=1);

namespace ServerTests;

/** What it serves with. */
const CONFIGURED = <<<'PHP'
    $arguments = array_slice($argv, 1);
    return function () use ($arguments) {
        if ($_SERVER['REQUEST_URI'] === '/pid') {
            echo getmypid();
            return;
        }
        echo json_encode([getenv('GREETING'), ini_get('precision'), ini_get('memory_limit'), $arguments]);
    };
    PHP;

/** Writes a file in a folder of its own, in which the app is. */
function configured(string $text): string
{
    @mkdir(WORK . '/conf');
    app('conf/app.php', CONFIGURED);
    file_put_contents(WORK . '/conf/spindle.toml', $text);
    return 'conf/spindle.toml';
}

/** Waits until the command has said this since it was last asked, and returns the line. */
function hears(Serving $serve, string $pattern, int &$heard): string
{
    until(function () use ($serve, $pattern, &$heard, &$found) {
        $new = substr($serve->errors(), $heard);
        return preg_match("~^$pattern\$~m", $new, $found, PREG_OFFSET_CAPTURE) === 1;
    });
    $heard += $found[0][1] + strlen($found[0][0]);
    return $found[0][0];
}
$cases['serve: options in a file, whose paths are relative to it, and those of the command line win'] = function () {
    @mkdir(WORK . '/conf/public', recursive: true);
    file_put_contents(WORK . '/conf/public/a.txt', 'the file');
    copy(WORK . '/one.pem', WORK . '/conf/cert.pem');
    copy(WORK . '/one.key', WORK . '/conf/cert.key');
    $file = configured(<<<'TOML'
        app = "app.php"
        arguments = ["one", "--two"]
        mode = "worker"
        listen = "unix:conf.sock"
        admin = ["unix:admin.sock"]
        workers = 2
        files = ["public", "/other=public"]
        tls = { cert = "cert.pem", key = "cert.key" }
        log = "json"
        log-file = "access.log"
        [set]
        max_body_size = 10
        trusted_proxies = ["127.0.0.1", "unix"]
        compression = true
        [ini]
        precision = 9
        memory_limit = "200M"
        [env]
        GREETING = "hello"
        TOML);
    $serve = new Serving('--config', $file);
    same('unix:conf/conf.sock', $serve->url);
    $get = fn(string $path, string $options = '') => shell('curl -sk --max-time 30 --unix-socket ' . WORK . "/conf/conf.sock $options https://localhost$path");
    same('["hello","9","200M",["one","--two"]]', $get('/'));
    same(['the file', 'the file'], [$get('/a.txt'), $get('/other/a.txt')]);
    same('413', $get('/', "-o /dev/null -w '%{http_code}' -d 01234567890"));
    same('alive', shell('curl -s --unix-socket ' . WORK . '/conf/admin.sock http://localhost/healthz'));
    same(true, str_contains($serve->errors(), '(worker mode, 2 workers)'));
    $serve->signal();
    same(0, $serve->end());
    same(200, json_decode(file(WORK . '/conf/access.log')[0], true)['status']);
    // What is given replaces all values of its key, but for tables.
    $serve = new Serving('--config', $file, '--listen', '127.0.0.1:0', '--set=max_body_size=20', '-d', 'precision=7', '--workers=1', 'conf/app.php', 'three');
    same('["hello","7","200M",["three"]]', shell("curl -sk --max-time 30 '$serve->url/'"));
    same('413', shell("curl -sk -o /dev/null -w '%{http_code}' -d 012345678901234567890 '$serve->url/'"));
    same('200', shell("curl -sk -o /dev/null -w '%{http_code}' -d 01234567890 '$serve->url/'"));
    same([true, false], [str_contains($serve->errors(), '(worker mode)'), file_exists(WORK . '/conf/conf.sock')]);
    $serve->signal();
    same(0, $serve->end());
    // An app in development has one worker.
    $serve = new Serving('--config', $file, '--listen', '127.0.0.1:0', '--dev');
    same('["hello","9","200M",["one","--two"]]', shell("curl -sk --max-time 30 '$serve->url/'"));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a reload takes what the file says, or nothing of it'] = function () {
    $right = fn(int $precision, string $more = '') => "app = 'app.php'\nmode = 'worker'\nlisten = '127.0.0.1:0'\nadmin = 'unix:admin.sock'\nworkers = 2\n$more\n[ini]\nprecision = $precision\n";
    $serve = new Serving('--config', configured($right(1)));
    $precision = fn() => json_decode($serve->get('/'), true)[1];
    $all = workers($serve, 2);
    $heard = 0;
    foreach ([
        ["worker = 2\n" . $right(2), "unknown key 'worker' in conf/spindle\.toml, line 1: did you mean 'workers'\?"],
        [$right(2, "grace = 'long'"), "grace in conf/spindle\.toml, line 6 takes seconds, from 0 to 86400, not 'long'"],
        [$right(2, 'reuse-port = true'), "another value of 'reuse-port' needs a restart"],
        [str_replace('workers = 2', 'workers = 3', $right(2)), "another value of 'workers' needs a restart"],
        [null, 'conf/spindle\.toml: No such file or directory'],
    ] as [$text, $why]) {
        $text === null ? unlink(WORK . '/conf/spindle.toml') : configured($text);
        $serve->signal(SIGHUP);
        hears($serve, "spindle: $why: the old PHP goes on", $heard);
        same(1, preg_match("~^spindle: $why: the old PHP goes on \(status 1\)\$~", shell(dirname(EXTENSION) . '/spindle reload ' . WORK . '/conf/admin.sock')));
        hears($serve, "spindle: $why: the old PHP goes on", $heard);
        same([true, true], array_map(lives(...), $all));
        // A worker that is started now has what the others have.
        posix_kill((int) $all[0], SIGKILL);
        hears($serve, 'spindle: worker [12] was ended by signal 9: starting it again', $heard);
        $all = workers($serve, 2, [$all[0]]);
        same(array_fill(0, 10, '1'), array_map(fn() => $precision(), range(1, 10)));
    }
    // The file is right, but no worker boots with it.
    configured($right(2, "[set]\nnone = 1"));
    $serve->signal(SIGHUP);
    hears($serve, 'spindle: There is no option "none"', $heard);
    hears($serve, 'spindle: the new PHP ended with status 1 before it could serve: the old one goes on', $heard);
    posix_kill((int) $all[0], SIGKILL);
    hears($serve, 'spindle: worker [12] was ended by signal 9: starting it again', $heard);
    workers($serve, 2, [$all[0]]);
    same(array_fill(0, 10, '1'), array_map(fn() => $precision(), range(1, 10)));
    // Limits are those of the new workers, too.
    configured($right(2, 'max-requests = 10'));
    same('', shell(dirname(EXTENSION) . '/spindle reload ' . WORK . '/conf/admin.sock'));
    same('2', $precision());
    until(fn() => $serve->get('/') !== '' && str_contains($serve->errors(), 'has reached --max-requests: another one takes its place'));
    same('2', $precision());
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a reload that is refused ends no worker that alone serves'] = function () {
    $right = "app = 'app.php'\nmode = 'worker'\nlisten = '127.0.0.1:0'\nworkers = 2\n";
    $serve = new Serving('--config', configured($right));
    $old = workers($serve, 2);
    // Of the new ones the first is ready, and the second waits.
    app('conf/app.php', 'if (!@mkdir(__DIR__ . "/gate")) { touch(__DIR__ . "/waits"); while (!file_exists(__DIR__ . "/go")) usleep(10_000); } ' . CONFIGURED);
    $serve->signal(SIGHUP);
    until(fn() => file_exists(WORK . '/conf/waits'));
    array_map(fn($pid) => posix_kill((int) $pid, SIGKILL), $old);
    until(fn() => array_filter($old, lives(...)) === []);
    same(true, ctype_digit($first = serving($serve)));
    file_put_contents(WORK . '/conf/spindle.toml', "worker = 2\n$right");
    $heard = 0;
    $serve->signal(SIGHUP);
    hears($serve, "spindle: (unknown key 'worker'|another reload follows).*", $heard);
    same($first, serving($serve));
    touch(WORK . '/conf/go');
    until(fn() => str_contains($serve->errors(), 'the new PHP has taken over') && str_contains($serve->errors(), "unknown key 'worker'"));
    same(true, in_array($first, workers($serve, 2), true));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: the requests of a worker have the grace with which it was started'] = function () {
    $file = fn(int $grace) => "app = 'app.php'\nmode = 'worker'\nlisten = '127.0.0.1:0'\ngrace = $grace\n";
    $serve = new Serving('--config', configured($file(60)));
    app('conf/app.php', str_replace('__DIR__', var_export(WORK, true), OPERATED));
    $heard = 0;
    $serve->signal(SIGHUP);
    hears($serve, 'spindle: the new PHP has taken over', $heard);
    $waits = begin($serve, '/wait');
    file_put_contents(WORK . '/conf/spindle.toml', $file(0));
    $serve->signal(SIGHUP);
    hears($serve, 'spindle: the new PHP has taken over', $heard);
    // One that was told to finish later, and does not get to that, is ended when it has had its time: none, and five seconds.
    $computes = serving($serve);
    $other = popen("curl -s --max-time 60 '$serve->url/loop'", 'r');
    until(fn() => file_get_contents(WORK . '/begun') === $computes);
    $serve->signal(SIGHUP);
    hears($serve, 'spindle: the new PHP has taken over', $heard);
    stream_get_contents($other);
    until(fn() => !lives($computes));
    touch(WORK . '/go');
    same('waited 200', stream_get_contents($waits));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: spindle.toml in the working directory is read, also when it comes later'] = function () {
    @mkdir(WORK . '/releases/1', recursive: true);
    @mkdir(WORK . '/releases/2');
    foreach ([1, 2] as $release) {
        app("releases/$release/app.php", "return fn() => 'release $release, ' . getenv('GREETING');");
    }
    file_put_contents(WORK . '/releases/2/spindle.toml', "[env]\nGREETING = 'hello'\n");
    symlink('1', WORK . '/releases/current');
    $serve = new Serving('app.php', through: ['bash', '-c', 'cd releases/current && exec "$@"', 'bash']);
    same('release 1,', $serve->get('/'));
    $heard = 0;
    foreach ([2 => 'spindle: the new PHP has taken over', 1 => 'spindle: there is no spindle\.toml any more: the old PHP goes on'] as $release => $line) {
        unlink(WORK . '/releases/current');
        symlink((string) $release, WORK . '/releases/current');
        $serve->signal(SIGHUP);
        hears($serve, $line, $heard);
        same('release 2, hello', $serve->get('/'));
    }
    $serve->signal();
    same(0, $serve->end());
};

/** Runs the check with these arguments, and returns what it prints on both outputs, and its status if that is not 0. */
function check(string ...$arguments): string
{
    $command = ['env', '-C', WORK, dirname(EXTENSION) . '/spindle', 'serve', '--check', '--php', PHP_BINARY, '--extension', EXTENSION, ...$arguments];
    return shell(implode(' ', array_map(escapeshellarg(...), $command)));
}
$cases['serve: a check boots the app, and serves nothing'] = function () {
    $boots = fn(string $code) => app('boots.php', 'file_put_contents(__DIR__ . "/boots", "x", FILE_APPEND); ' . $code);
    $handler = 'return fn() => "";';
    foreach ([
        [$handler, []], [$handler, ['--workers', '2', '--max-requests', '5']], [$handler, ['--tls', 'one.pem,one.key']], [$handler, ['--reuse-port']], [$handler, ['--dev']],
        ['return function () {};', ['--mode', 'worker', '--log-file', 'check.log']], ['return fn() => function () {};', ['--mode', 'application', '--instances', '1']],
    ] as [$code, $arguments]) {
        @unlink(WORK . '/boots');
        same('boots.php is right: it boots, and can be served at 127.0.0.1:0, unix:check.sock', check('--listen', '127.0.0.1:0', '--listen', 'unix:check.sock', ...$arguments, ...[$boots($code)]));
        same('x', file_get_contents(WORK . '/boots'));
        same(false, file_exists(WORK . '/check.sock'));
    }
    // What one instance does, the others do as well.
    @unlink(WORK . '/boots');
    $instances = $boots('return function () { file_put_contents(__DIR__ . "/boots", "i", FILE_APPEND); return function () {}; };');
    same('boots.php is right: it boots, and can be served at 127.0.0.1:0', check('--listen', '127.0.0.1:0', '--mode', 'application', '--instances', '3', $instances));
    same('xi', file_get_contents(WORK . '/boots'));
    // While the app boots, no one is let in; and what one leaves behind that is stopped is nothing.
    $port = free_port();
    array_map(fn($file) => @unlink(WORK . "/$file"), ['begun', 'go']);
    app('slow.php', 'file_put_contents(__DIR__ . "/begun", getmypid()); while (!file_exists(__DIR__ . "/go")) usleep(10_000); return fn() => "";');
    $start = function () use ($port, &$pipes) {
        $command = [dirname(EXTENSION) . '/spindle', 'serve', '--check', '--php', PHP_BINARY, '--extension', EXTENSION, 'slow.php', '--listen', "127.0.0.1:$port"];
        @unlink(WORK . '/begun');
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes, WORK);
        until(fn() => (int) @file_get_contents(WORK . '/begun'));
        return $process;
    };
    $process = $start();
    same(false, @stream_socket_client("tcp://127.0.0.1:$port"));
    touch(WORK . '/go');
    same("slow.php is right: it boots, and can be served at 127.0.0.1:$port\n", stream_get_contents($pipes[1]));
    same(0, proc_close($process));
    unlink(WORK . '/go');
    $process = $start();
    proc_terminate($process);
    same("spindle: the check was stopped before PHP was ready\n", stream_get_contents($pipes[1]));
    same(1, proc_close($process));
    until(fn() => !lives(file_get_contents(WORK . '/begun')));
};
$cases['serve: a check says what is wrong in a line, with status 1'] = function () {
    $fine = app('fine.php', 'return fn() => "";');
    $taken = stream_socket_server('tcp://127.0.0.1:0');
    $address = stream_socket_get_name($taken, false);
    $file = stream_socket_server('unix://' . WORK . '/taken.sock');
    touch(WORK . '/a-file');
    foreach ([
        [[$fine, '--listen', $address], "Cannot listen at $address: Address already in use"],
        [[$fine, '--admin', $address], "Cannot listen at $address: Address already in use"],
        [[$fine, '--listen', 'unix:taken.sock'], 'Cannot listen at unix:taken.sock: Address already in use'],
        [[$fine, '--listen', 'unix:a-file'], 'Cannot listen at unix:a-file: Address already in use'],
        [[$fine, '--listen', 'unix:none/check.sock'], 'Cannot listen at unix:none/check.sock: No such file or directory'],
        [[$fine, '--listen', '192.0.2.1:80'], 'Cannot listen at 192.0.2.1:80: Cannot assign requested address'],
        [[$fine, '--admin', '8080'], "--admin takes HOST:PORT or unix:PATH, not '8080'; see 'spindle serve --help'"],
        [[$fine, '--workers', '0'], "--workers takes a number, from 1 to 1024, or 'auto', not '0'; see 'spindle serve --help'"],
        [[$fine, '--set', 'none=1'], 'There is no option "none"'],
        [[$fine, '--files', 'none'], null],
        [[$fine, '--listen', '8080'], null],
        [[$fine, '--log-file', 'none/check.log'], 'none/check.log: No such file or directory'],
        [[$fine, '--tls', 'none.pem,one.key'], null],
        [[$fine, '--tls', 'one.pem,two.key'], null],
        [[app('throws.php', 'throw new Exception("no database");')], WORK . '/throws.php: Exception: no database in ' . WORK . '/throws.php:2'],
        [[app('nothing.php', '')], null],
        [[app('ends.php', 'exit(0);')], WORK . '/ends.php has ended the process while it was loaded'],
        [[app('crashes.php', 'posix_kill(getmypid(), SIGSEGV);')], 'PHP was ended by signal 11 before it could serve'],
        [[app('late.php', 'register_shutdown_function(fn() => exit(3)); return fn() => "";')], 'PHP was ready, but has not ended as it should: exit status: 3'],
        [['none.php'], 'none.php: No such file or directory'],
    ] as [$arguments, $why]) {
        $arguments = in_array('--listen', $arguments, true) ? $arguments : [...$arguments, '--listen', '127.0.0.1:0'];
        $said = check(...$arguments);
        same(1, preg_match('~^spindle: [^\n]+ \(status 1\)$~', $said) ?: $said);
        $why === null || same("spindle: $why (status 1)", $said);
    }
    // What a dead process has left is no obstacle, and is left to a server.
    fclose($file);
    same('fine.php is right: it boots, and can be served at unix:taken.sock', check($fine, '--listen', 'unix:taken.sock'));
    same(true, file_exists(WORK . '/taken.sock'));
};
$cases['serve: a check beside the server that has the addresses'] = function () {
    $port = free_port();
    $text = "app = 'app.php'\nmode = 'worker'\nlisten = '127.0.0.1:$port'\nadmin = 'unix:admin.sock'\n";
    $serve = new Serving('--config', configured($text));
    $right = "conf/app.php is right: it boots, and can be served at 127.0.0.1:$port";
    same($right, check('--config', 'conf/spindle.toml'));
    same(true, ctype_digit($first = serving($serve)));
    // Those that another one has are not its own, nor is anything when it cannot be asked.
    $taken = stream_socket_server('tcp://127.0.0.1:0');
    $address = stream_socket_get_name($taken, false);
    same("spindle: Cannot listen at $address: Address already in use (status 1)", check('--config', 'conf/spindle.toml', '--listen', $address));
    configured(preg_replace('/^admin.*\n/m', '', $text));
    same("spindle: Cannot listen at 127.0.0.1:$port: Address already in use (status 1)", check('--config', 'conf/spindle.toml'));
    same($first, serving($serve));
    $serve->signal();
    same(0, $serve->end());
    configured($text);
    same($right, check('--config', 'conf/spindle.toml'));
};
$cases['serve: PHP runs as another user, and can do nothing that only root can'] = function () {
    posix_geteuid() === 0 || throw new \Runner\Skipped('only root can start it');
    $folder = WORK . '/users';
    mkdir($folder);
    chmod(WORK, 0755);
    chown($folder, 'postgres');
    copy(EXTENSION, "$folder/spindle.so"); // which need not be where others can read
    file_put_contents("$folder/secret", 'of root');
    chmod("$folder/secret", 0600);
    $app = app('users/app.php', <<<'PHP'
        $read = @file_get_contents(__DIR__ . '/secret');
        return function () use ($read) {
            if ($_SERVER['REQUEST_URI'] === '/pid') {
                echo getmypid();
                return;
            }
            if ($_SERVER['REQUEST_URI'] === '/descriptors') {
                echo json_encode(array_values(array_filter(array_map(fn($number) => @readlink("/proc/self/fd/$number"), scandir('/proc/self/fd')))));
                return;
            }
            if ($_SERVER['REQUEST_URI'] === '/loop') {
                touch(__DIR__ . '/begun');
                while (true);
            }
            preg_match_all('/^(Uid|Gid|Groups|CapInh|CapPrm|CapEff|CapAmb):\s*(.*?)\s*$/m', file_get_contents('/proc/self/status'), $found);
            $regains = posix_setuid(0) || posix_seteuid(0) || posix_setgid(0);
            echo json_encode([array_combine($found[1], preg_replace('/\s+/', ' ', $found[2])), $read, $regains, getenv('HOME'), getenv('USER'), getenv('LOGNAME')]);
        };
        PHP);
    $account = posix_getpwnam('postgres');
    $uid = $account['uid'];
    $get = fn(string $path) => shell('curl -s --max-time 30 --unix-socket ' . WORK . "/users.sock http://localhost$path");
    // It has the one of root's descriptors that it is to listen at, and no other.
    $passes = [fopen("$folder/secret", 'r'), stream_socket_server('tcp://127.0.0.1:0'), stream_socket_server('tcp://127.0.0.1:0')];
    $socket = fn(int $place) => 'socket:[' . fstat($passes[$place])['ino'] . ']';
    foreach (['postgres' => $account['gid'], 'postgres:daemon' => posix_getgrnam('daemon')['gid']] as $user => $gid) {
        $serve = new Serving($app, '--mode', 'worker', '--user', $user, '--set', 'request_timeout=0', '--log-file', 'users/access.log', '--extension', "$folder/spindle.so", '--listen', 'unix:users.sock', '--listen', 'fd:4', '--admin', 'unix:users-admin.sock',
            '--run', "as=sh -c 'echo \$(id -u) \$HOME > users/as.new && mv users/as.new users/as; exec sleep 600'", passes: $passes);
        $groups = array_filter(explode(' ', shell('id -G postgres')), fn($group) => $gid === $account['gid'] || (int) $group !== $account['gid']);
        $groups = array_unique([...array_map(intval(...), $groups), $gid]);
        sort($groups);
        same(true, count($groups) > 1);
        $none = str_repeat('0', 16);
        $expected = ['Uid' => "$uid $uid $uid $uid", 'Gid' => "$gid $gid $gid $gid", 'Groups' => implode(' ', $groups), 'CapInh' => $none, 'CapPrm' => $none, 'CapEff' => $none, 'CapAmb' => $none];
        same([$expected, false, false, $account['dir'], 'postgres', 'postgres'], json_decode($get('/'), true));
        same([$uid, $gid, $uid, 0], [fileowner(WORK . '/users.sock'), filegroup(WORK . '/users.sock'), fileowner("$folder/access.log"), fileowner(WORK . '/users-admin.sock')]);
        until(fn() => file_exists("$folder/as"));
        same("$uid $account[dir]\n", file_get_contents("$folder/as")); // as whom programs beside it run
        unlink("$folder/as");
        same([$socket(1)], array_values(array_intersect(array_unique(json_decode($get('/descriptors'))), ["$folder/secret", $socket(1), $socket(2)])));
        // The user of PHP cannot reload, root can; and the next one is as the first.
        $reload = dirname(EXTENSION) . '/spindle reload ' . WORK . '/users-admin.sock';
        copy(dirname(EXTENSION) . '/spindle', "$folder/spindle");
        chmod("$folder/spindle", 0755);
        same('spindle: ' . WORK . '/users-admin.sock: Permission denied (status 1)', shell("setpriv --reuid=postgres --regid=postgres --init-groups $folder/spindle reload " . WORK . '/users-admin.sock'));
        $first = $get('/pid');
        same('', shell($reload));
        until(fn() => !lives($first) && ctype_digit($get('/pid')));
        same($expected, json_decode($get('/'), true)[0]);
        // It ends with the command, however that ends.
        $pid = $get('/pid');
        same(true, lives($pid));
        if ($user === 'postgres') {
            $serve->signal();
            same(0, $serve->end());
        } else {
            $computes = popen('curl -s --max-time 60 --unix-socket ' . WORK . '/users.sock http://localhost/loop', 'r');
            until(fn() => file_exists("$folder/begun"));
            $serve->signal(SIGKILL);
        }
        until(fn() => !lives($pid));
        unlink("$folder/access.log");
        array_map(fn($file) => @unlink(WORK . "/$file"), ['users.sock', 'users-admin.sock']);
    }
    same('users/app.php is right: it boots, and can be served at 127.0.0.1:0', check('--listen', '127.0.0.1:0', '--user', 'postgres', '--extension', "$folder/spindle.so", $app));
    chmod("$folder/app.php", 0600);
    same(true, str_contains($said = check('--listen', '127.0.0.1:0', '--user', 'postgres', '--extension', "$folder/spindle.so", $app), 'Permission denied') ?: $said);
    // Another one cannot start it.
    $command = "setpriv --reuid=postgres --regid=postgres --init-groups $folder/spindle serve --check --php " . PHP_BINARY . " --extension $folder/spindle.so --listen 127.0.0.1:0 $folder/other.php";
    app('users/other.php', 'return fn() => "";');
    same('spindle: --user www-data: only root can run PHP as another user (status 1)', shell("$command --user www-data"));
    same("$folder/other.php is right: it boots, and can be served at 127.0.0.1:0", shell("$command --user postgres"));
};
$cases['serve: a user or a group that does not exist is refused'] = function () {
    $fine = app('fine.php', 'return fn() => "";');
    foreach (['nobody-here' => "there is no user 'nobody-here'", 'nobody:none-here' => "there is no group 'none-here'", '' => "there is no user ''", ':nogroup' => "there is no user ''"] as $user => $why) {
        same("spindle: --user: $why (status 1)", check('--user', $user, $fine));
    }
    if (posix_geteuid() === 0) {
        same("spindle: --user is not for --dev, which runs as whoever starts it: that should not be root; see 'spindle serve --help' (status 1)", check('--dev', '--user', 'nobody', $fine));
    }
};
