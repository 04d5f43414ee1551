<?php
// needs: postgres mariadb redis peer ext:pdo_pgsql ext:pgsql ext:mysqli ext:pdo_mysql ext:redis ext:curl ext:sockets ext:pcntl ext:posix ext:pdo_sqlite
// A cancellation in the middle of a blocked call.
namespace Matrix;

use Async;

cancelled('pdo-pgsql', fn() => pdo_pgsql()->query('select pg_sleep(20)'), fn() => pdo_pgsql()->query('select 42')->fetchColumn());
// (pg_connect() itself keeps the last connection)
$link = \pg_connect(env('SPINDLE_PG_CONNECT'), PGSQL_CONNECT_FORCE_NEW);
cancelled('pg_query', fn() => \pg_query($link, 'select pg_sleep(20)'));
cancelled('pdo-mysql', fn() => pdo_mysql()->query('select sleep(20)'), fn() => pdo_mysql()->query('select 42')->fetchColumn());
cancelled('mysqli', fn() => mysqli()->query('select sleep(20)'), fn() => mysqli()->query('select 42')->fetch_row());
cancelled('mysqli_poll', function (): void {
    $read = $error = $reject = [$db = mysqli()];
    $db->query('select sleep(20)', MYSQLI_ASYNC);
    \mysqli_poll($read, $error, $reject, 20);
});
cancelled('phpredis blPop', fn() => redis()->blPop([unique('empty')], 20), fn() => redis()->echo('fine'));
cancelled('a phpredis subscription', function (): void {
    $redis = redis();
    $redis->setOption(\Redis::OPT_READ_TIMEOUT, 20);
    $redis->subscribe([unique('channel')], fn() => null);
});
cancelled('curl_exec', fn() => \curl_exec(curl(http('/20000/late'))), fn() => \curl_exec(curl(http('/1/fine'))));
cancelled('curl_exec https', fn() => \curl_exec(curl(https('/20000/late'))), fn() => \curl_exec(curl(https('/1/fine'))));
cancelled('curl_multi_select', function (): void {
    $multi = \curl_multi_init();
    \curl_multi_add_handle($multi, curl(http('/20000/late')));
    do {
        \curl_multi_exec($multi, $running);
        \curl_multi_select($multi, 20);
    } while ($running);
});
cancelled('file_get_contents', fn() => \file_get_contents(http('/20000/late')), fn() => \file_get_contents(http('/1/fine')));

foreach (['tcp', 'unix', 'tls'] as $transport) {
    cancelled("fread, $transport", fn() => \fread(line_client($transport), 100), function () use ($transport): string {
        \fwrite($stream = line_client($transport), "1 fine\n");
        return \fgets($stream);
    });
}
cancelled('fwrite to nobody', function (): void {
    [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    \fwrite($a, \str_repeat('x', 10_000_000));
});
cancelled('stream_select', function (): void {
    $read = [line_client('tcp')];
    $write = $except = null;
    \stream_select($read, $write, $except, 20);
});
cancelled('stream_socket_accept', fn() => \stream_socket_accept(\stream_socket_server('tcp://127.0.0.1:0'), 20));
cancelled('connect to a full backlog', function (): void {
    $full = new FullListener;
    \stream_socket_client($full->address, $code, $message, 20);
}, fn() => \stream_socket_client('tcp://127.0.0.1:' . env('MATRIX_LINE_PORT')) !== false);
cancelled('a TLS handshake that gets no answer', function (): void {
    $server = \stream_socket_server('tcp://127.0.0.1:0');
    \stream_socket_client('tls://' . \stream_socket_get_name($server, false), $code, $message, 20);
});
cancelled('socket_connect to a full backlog', function (): void {
    $full = new FullListener;
    $socket = \socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    \socket_connect($socket, '127.0.0.1', (int) \substr(\strrchr($full->address, ':'), 1));
});
cancelled('socket_recvfrom', function (): void {
    $socket = \socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
    \socket_bind($socket, '127.0.0.1', 0);
    \socket_recvfrom($socket, $data, 100, 0, $from, $port);
});
cancelled('socket_select', function (): void {
    $read = [\socket_create_listen(0)];
    $write = $except = null;
    \socket_select($read, $write, $except, 20);
});

cancelled('sleep', fn() => \sleep(20), fn() => \sleep(0));
cancelled('usleep', fn() => \usleep(20_000_000));
cancelled('time_nanosleep', fn() => \time_nanosleep(20, 0));

// a child process may be waited for
cancelled('shell_exec', fn() => \shell_exec('exec sleep 2'), fn() => \shell_exec('echo fine'), within: 4.0);
cancelled('exec', fn() => \exec('exec sleep 2'), fn() => \exec('echo fine'), within: 4.0);
cancelled('pclose', fn() => \pclose(\popen('exec sleep 2', 'r')), within: 4.0);
cancelled('fread from proc_open', function (): void {
    $process = \proc_open(['sleep', '2'], [1 => ['pipe', 'w']], $pipes);
    \fread($pipes[1], 100);
}, within: 4.0);
cancelled('proc_close', fn() => \proc_close(\proc_open(['sleep', '2'], [], $pipes)), within: 4.0);
cancelled('pcntl_waitpid', function (): void {
    $pid = \pcntl_fork();
    if ($pid === 0) {
        \sleep(20);
        exit;
    }
    try {
        \pcntl_waitpid($pid, $status);
    } finally {
        \posix_kill($pid, SIGKILL);
        \pcntl_waitpid($pid, $status);
    }
});
with_coroutines('no child process is left', function (Check $check): void {
    // what a cancelled shell_exec() had started may go on; it is reaped when it ends, by the one that waits for it
    $children = static fn(): string => \trim(\implode(' ', \array_map(\file_get_contents(...), \glob('/proc/self/task/*/children'))));
    for ($try = 0; $children() !== '' && $try < 3000; $try++) {
        Async\delay(20);
    }
    $children() === '' or $check->problem('there are ' . $children());
});

$lock = scratch('lock');
$owner = \fopen($lock, 'c');
\flock($owner, LOCK_EX);
cancelled('flock', fn() => \flock(\fopen($lock, 'c'), LOCK_EX), function () use ($lock): bool {
    return \flock(\fopen("$lock.other", 'c'), LOCK_EX);
});
with_coroutines('the lock of a cancelled flock is free afterwards', function (Check $check) use ($lock, $owner): void {
    \flock($owner, LOCK_UN);
    \flock(\fopen($lock, 'c'), LOCK_EX | LOCK_NB) or $check->problem('somebody holds it');
});
cancelled('fopen of a named pipe', function (): void {
    \posix_mkfifo($fifo = scratch('fifo'), 0600);
    \fopen($fifo, 'r');
});
cancelled('an SQLite writer that waits', function (): void {
    $one = new \PDO('sqlite:' . $file = scratch('db'));
    $one->exec('create table t (n int); begin immediate');
    (new \PDO("sqlite:$file", null, null, [\PDO::ATTR_TIMEOUT => 20]))->exec('insert into t values (1)');
});

with_coroutines('gethostbyname', function (Check $check): void {
    $lookup = fn() => \gethostbyname('localhost');
    $expected = finished(Async\spawn($lookup));
    $open = open_descriptors();
    $check->facts['cancelled'] = 0;
    for ($try = 0; $try < 100; $try++) {
        $coroutine = Async\spawn($lookup);
        for ($turn = $try % 5; $turn > 0; $turn--) {
            Async\suspend();
        }
        $coroutine->cancel();
        try {
            finished($coroutine) === $expected or $check->problem('another answer'); // it was faster
        } catch (Async\CancellationException) {
            $check->facts['cancelled']++;
        }
    }
    $check->facts['cancelled'] > 0 or $check->problem('not one was cancelled');
    finished(Async\spawn($lookup)) === $expected or $check->problem('afterwards another answer');
    no_descriptor_left($check, $open);
});
