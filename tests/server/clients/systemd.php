<?php
/*
 * The command as a service of systemd, whose part the cases have: what it is told, and the sockets that it passes (PROC-4).
 */

declare(strict_types=1);

namespace ServerTests;

/** What a service tells its manager. */
final class Manager
{
    private $socket;
    /** What it was told, without the signs of life. */
    public array $told = [];
    public int $signs = 0;

    public function __construct(public readonly string $name)
    {
        str_starts_with($name, '@') || @unlink($name);
        $this->socket = stream_socket_server('udg://' . preg_replace('~^@~', "\0", $name), $code, $text, STREAM_SERVER_BIND);
        stream_set_blocking($this->socket, false);
    }

    /** Returns whether it was told this, as a message that begins so, at least so often. */
    public function hears(string $begin, int $times = 1): bool
    {
        while (($message = (string) @stream_socket_recvfrom($this->socket, 8192)) !== '') {
            $message === "WATCHDOG=1\n" ? $this->signs++ : $this->told[] = $message;
        }
        return count(array_filter($this->told, fn($message) => str_starts_with($message, $begin))) >= $times;
    }

    public function leaves(): void
    {
        stream_socket_shutdown($this->socket, STREAM_SHUT_RD); // the server, too, has this descriptor
    }
}

/** The microseconds of the clock that systemd compares with. */
function monotonic(): int
{
    return intdiv(hrtime(true), 1000);
}
$cases['serve: systemd is told of its start, reloads, end, and that it lives'] = function () {
    foreach ([WORK . '/notify', '@' . basename(WORK) . '-notify'] as $name) {
        $manager = new Manager($name);
        $app = app('told.php', 'return fn() => json_encode(array_intersect_key(getenv(), array_flip(["NOTIFY_SOCKET", "WATCHDOG_USEC", "LISTEN_FDS"])));');
        $serve = new Serving('--workers', '2', '--admin', 'unix:' . WORK . '/admin.sock', $app, through: ['env', "NOTIFY_SOCKET=$name", 'WATCHDOG_USEC=100000', 'LISTEN_FDS=0']);
        until(fn() => $manager->hears('READY=1'));
        same(["READY=1\nSTATUS=serving\n"], $manager->told);
        same('[]', $serve->get('/'));
        $signs = $manager->signs;
        until(fn() => $manager->hears('READY=1') && $manager->signs >= $signs + 3);
        // A reload that is done, and one that fails.
        $began = monotonic();
        $serve->signal(SIGHUP);
        until(fn() => $manager->hears('READY=1', 2));
        same(1, preg_match('~^RELOADING=1\nMONOTONIC_USEC=(\d+)\nSTATUS=starting PHP anew~', $manager->told[1], $found));
        same(true, $began <= $found[1] && $found[1] <= monotonic());
        same("READY=1\nSTATUS=the new PHP has taken over\n", $manager->told[2]);
        app('told.php', 'throw new Exception("broken");');
        $serve->signal(SIGHUP);
        until(fn() => $manager->hears('READY=1', 3));
        same("READY=1\nSTATUS=the new PHP ended with status 1 before it could serve: the old one goes on\n", $manager->told[4]);
        // Of one that is asked for meanwhile it hears anew, and that all is done when all is.
        gated('gated');
        copy(WORK . '/gated.php', WORK . '/told.php');
        $serve->signal(SIGHUP);
        until(fn() => (int) @file_get_contents(WORK . '/begun'));
        $began = monotonic();
        $serve->signal(SIGHUP);
        until(fn() => said($serve, 'another reload follows') === 1);
        touch(WORK . '/go');
        until(fn() => $manager->hears('READY=1', 4));
        same(['RELOADING=1', 'RELOADING=1', 'READY=1'], array_map(fn($message) => strtok($message, "\n"), array_slice($manager->told, 5)));
        same(1, preg_match('~MONOTONIC_USEC=(\d+)~', $manager->told[6], $found));
        same(true, $began <= (int) $found[1]);
        $serve->signal();
        same(0, $serve->end());
        same(true, $manager->hears('STOPPING=1'));
    }
};
$cases['serve: systemd is told of the end of a reload that cannot begin while nothing serves'] = function () {
    $manager = new Manager(WORK . '/notify');
    app('told.php', 'return fn() => (string) getmypid();');
    configured($text = "app = '../told.php'\nlisten = '127.0.0.1:0'\n");
    $serve = new Serving('--config', 'conf/spindle.toml', through: ['env', "NOTIFY_SOCKET=$manager->name"]);
    until(fn() => $manager->hears('READY=1'));
    gated('gated');
    copy(WORK . '/gated.php', WORK . '/told.php');
    posix_kill((int) $serve->get('/'), SIGKILL);
    until(fn() => (int) @file_get_contents(WORK . '/begun'));
    configured("$text oops");
    $serve->signal(SIGHUP);
    until(fn() => $manager->hears('READY=1', 2));
    same(['READY=1', 'RELOADING=1', 'READY=1'], array_map(fn($message) => strtok($message, "\n"), $manager->told));
    touch(WORK . '/go');
    same('gated', $serve->get('/'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a systemd that does not listen keeps it from nothing'] = function () {
    // It never reads, and its queue is full.
    $manager = new Manager(WORK . '/notify');
    $serve = new Serving('--admin', 'unix:' . WORK . '/admin.sock', app('pid-handler.php', 'return fn() => (string) getmypid();'), through: ['env', "NOTIFY_SOCKET=$manager->name", 'WATCHDOG_USEC=2000']);
    $fills = stream_socket_client("udg://$manager->name");
    stream_set_blocking($fills, false);
    while (@fwrite($fills, 'x') > 0);
    for ($i = 1; $i <= 20; $i++) {
        $serve->signal(SIGHUP);
        until(fn() => said($serve, "spindle: the new PHP has taken over\n") === $i);
    }
    // The last of what waited is what it hears.
    until(fn() => $manager->hears('READY=1') && $manager->signs > 0 && str_starts_with(end($manager->told), 'READY=1'));
    $manager->leaves();
    until(fn() => said($serve, 'spindle: systemd is told nothing any more: Broken pipe') === 1);
    same('alive', admin('/healthz'));
    $serve->signal();
    same(0, $serve->end());
    // One that is not there is a line.
    $serve = new Serving(app('pid-handler.php', 'return fn() => (string) getmypid();'), through: ['env', 'NOTIFY_SOCKET=/none/notify']);
    same(1, said($serve, 'spindle: systemd is told nothing: No such file or directory'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: sockets that systemd passes outlive the service'] = function () {
    @unlink(WORK . '/passed.sock');
    $passes = [stream_socket_server('tcp://127.0.0.1:0'), stream_socket_server('unix://' . WORK . '/passed.sock')];
    $port = stream_socket_get_name($passes[0], false);
    $app = app('pid-handler.php', 'return fn() => (string) getmypid();');
    $start = fn(string $address) => new Serving('--workers', '2', '--listen', $address, $app, passes: $passes,
        through: ['bash', '-c', 'export LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=web:local && exec "$@"', 'bash']);
    $local = fn() => shell('curl -s --max-time 10 --unix-socket ' . WORK . '/passed.sock http://localhost/');
    // The first answers at both, the others at one of them.
    $serve = $start('systemd:');
    same("http://$port", $serve->url);
    same(true, str_contains($serve->errors(), " at http://$port/, unix:" . WORK . '/passed.sock ('));
    same([true, true], [ctype_digit($serve->get('/')), ctype_digit($local())]);
    foreach (['systemd:web', 'systemd:local', 'systemd:web'] as $address) {
        $serve->signal();
        same(0, $serve->end());
        // Who comes while nothing serves waits.
        $target = $address === 'systemd:web' ? "tcp://$port" : 'unix://' . WORK . '/passed.sock';
        $client = stream_socket_client($target);
        fwrite($client, "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
        $serve = $start($address);
        same(1, preg_match('~^HTTP/1.1 200 .*\d$~s', stream_get_contents($client)));
    }
    $serve->signal();
    same(0, $serve->end());
    same(true, file_exists(WORK . '/passed.sock'));
    // What is wrong is one line.
    $connected = stream_socket_client("tcp://$port");
    foreach ([
        ['systemd:', '', [], 'systemd has passed no socket: a socket unit does'],
        ['systemd:', 'LISTEN_PID=1 LISTEN_FDS=2', $passes, 'systemd has passed no socket: a socket unit does'],
        ['systemd:none', 'LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=web:local', $passes, 'systemd has passed no socket with this name, but: web, local'],
        ['systemd:', 'LISTEN_PID=$$ LISTEN_FDS=1', [$connected], 'descriptor 3: it is not a socket that listens for streams'],
        ['systemd:', 'LISTEN_PID=$$ LISTEN_FDS=900000000', $passes, 'descriptor \d+: (Bad file descriptor|it is not a socket that listens for streams)'],
    ] as [$address, $variables, $passed, $expected]) {
        $command = ['timeout', '30', 'bash', '-c', ($variables === '' ? '' : "export $variables && ") . 'exec "$@"', 'bash', dirname(EXTENSION) . '/spindle', 'serve', '--extension', EXTENSION, '--listen', $address, $app];
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', WORK . '/wrong', 'w'], ...$passed], $pipes, WORK);
        same(1, proc_close($process));
        same(1, preg_match("~^spindle: Cannot listen at $address: $expected\n$~D", file_get_contents(WORK . '/wrong')));
    }
};
$cases['serve: commands that take over from each other at a socket that was passed lose nothing'] = function () {
    $socket = stream_socket_server('tcp://127.0.0.1:0');
    $start = fn() => new Serving('--workers', '2', '--log', 'off', '--grace', '20', '--listen', 'fd:3', loaded(), passes: [$socket]);
    $serve = $start();
    workers($serve, 2);
    loses_nothing($serve, function () use (&$serve, $start) {
        for ($i = 0; $i < 20; $i++) {
            [$before, $serve] = [$serve, $start()];
            $before->signal();
            $ending[] = $before;
        }
        foreach ($ending as $before) {
            same(0, $before->end());
        }
    });
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a check looks at the sockets that it was started with, and takes no connection of them'] = function () {
    app('fine.php', 'return fn() => "";');
    $socket = stream_socket_server('tcp://127.0.0.1:0');
    $name = stream_socket_get_name($socket, false);
    $connected = stream_socket_client("tcp://$name");
    fwrite($connected, "GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    $check = function (string $variables, array $passes, string ...$arguments): string {
        $command = ['bash', '-c', ($variables === '' ? '' : "export $variables && ") . 'exec "$@"', 'bash', dirname(EXTENSION) . '/spindle', 'serve', '--check', '--php', PHP_BINARY, '--extension', EXTENSION, ...$arguments, ...['fine.php']];
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1], ...$passes], $pipes, WORK);
        $said = stream_get_contents($pipes[1]);
        return trim($said) . ' ' . proc_close($process);
    };
    $passed = 'LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=web';
    $right = 'fine.php is right: it boots, and can be served at';
    foreach (['systemd:', 'systemd:web', 'fd:3'] as $address) {
        same("$right $address 0", $check($passed, [$socket], '--listen', $address));
    }
    same("$right fd:3, systemd:web 0", $check($passed, [$socket], '--listen', 'fd:3', '--listen', 'systemd:web'));
    $none = 'it is not a socket that listens for streams';
    foreach ([
        ['systemd:', '', [], 'systemd has passed no socket: a socket unit does'], ['systemd:', 'LISTEN_PID=1 LISTEN_FDS=1', [$socket], 'systemd has passed no socket: a socket unit does'],
        ['systemd:other', $passed, [$socket], 'systemd has passed no socket with this name, but: web'], ['systemd:', $passed, [$connected], "descriptor 3: $none"],
        ['fd:3', '', [$connected], $none], ['fd:9', '', [], 'Bad file descriptor'],
    ] as [$address, $variables, $passes, $why]) {
        same("spindle: Cannot listen at $address: $why 1", $check($variables, $passes, '--listen', $address));
    }
    same(1, preg_match('~fd:x~', $check('', [], '--listen', 'fd:x')));
    // Beside a server that runs they are those that it has.
    $serve = new Serving('--listen', 'fd:3', '--admin', 'unix:' . WORK . '/admin.sock', 'fine.php', passes: [$socket]);
    same("$right systemd:web, fd:3 0", $check('', [], '--listen', 'systemd:web', '--listen', 'fd:3', '--admin', 'unix:' . WORK . '/admin.sock'));
    // The one who has connected before all of this is answered by the first that serves.
    same(true, str_starts_with((string) fgets($connected), 'HTTP/1.1 200'));
    $serve->signal();
    same(0, $serve->end());
};
