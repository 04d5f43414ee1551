<?php
/*
 * The command `spindle serve`.
 */

declare(strict_types=1);

namespace ServerTests;

/**
 * Clients that read no answer before they have sent all: each gets the one that the server gives without reading.
 *
 * @param array<string, int> $ports
 */
function uploads(array $ports, int $size, int $count, string $path, int $status, int $length): void
{
    file_put_contents(WORK . '/uploads.py', <<<'PY'
        import http.client, sys, collections
        size, count, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
        for port in sys.argv[4:]:
            seen = collections.Counter()
            for _ in range(count):
                client = http.client.HTTPConnection('127.0.0.1', int(port), timeout=60)
                try:
                    client.request('POST', path, body=b'x' * size, headers={'Content-Type': 'text/plain'})
                    answer = client.getresponse()
                    seen[f'{answer.status} {len(answer.read())}'] += 1
                except Exception as e:
                    seen[repr(e)] += 1
                client.close()
            print(dict(seen))
        PY);
    $seen = array_filter(explode("\n", (string) shell_exec('timeout 300 python3 ' . WORK . "/uploads.py $size $count '$path' " . implode(' ', $ports) . ' 2>&1')));
    same(array_fill_keys(array_keys($ports), "{'$status $length': $count}"), array_combine(array_keys($ports), $seen));
}
$cases['serve: answers to uploads that are not read arrive'] = function () {
    app('early.php', 'return fn() => new Async\Http\Response("no\n", 401);');
    app('early-worker.php', 'return function () { http_response_code(401); echo isset($_GET["long"]) ? str_repeat("x", 100_000) : "no\n"; };');
    $handler = new Serving('--log', 'off', WORK . '/early.php');
    $ofHandler = (int) substr(strrchr($handler->url, ':'), 1);
    $worker = new Serving('--log', 'off', '--mode', 'worker', WORK . '/early-worker.php');
    $ofWorker = (int) substr(strrchr($worker->url, ':'), 1);
    $ports = ['handler' => $ofHandler, 'worker' => $ofWorker];
    $lines = $more = '';
    foreach ($ports as $name => $port) {
        foreach (['on', 'off'] as $buffering) {
            $ports["nginx, $name, buffering $buffering"] = $own = free_port();
            $lines .= "upstream $name$buffering { server 127.0.0.1:$port; keepalive 8; }\nserver { listen 127.0.0.1:$own; client_max_body_size 0; location / { proxy_pass http://$name$buffering;
                proxy_http_version 1.1; proxy_set_header Connection ''; proxy_request_buffering $buffering; proxy_buffering $buffering; } }\n";
        }
        $ports["haproxy, $name"] = $own = free_port();
        $more .= "listen $name\n  bind 127.0.0.1:$own\n  server one 127.0.0.1:$port\n";
    }
    $nginx = new Proxy('nginx', $lines, ...array_values(array_filter($ports, fn($name) => str_starts_with($name, 'nginx'), ARRAY_FILTER_USE_KEY)));
    $haproxy = new Proxy('haproxy', "global\n  maxconn 100\ndefaults\n  mode http\n  timeout connect 60s\n  timeout client 60s\n  timeout server 60s\n$more",
        ...array_values(array_filter($ports, fn($name) => str_starts_with($name, 'haproxy'), ARRAY_FILTER_USE_KEY)));
    uploads($ports, 600_000, DISCONNECTS / 20, '/', 401, 3);
    uploads($ports, 5_000_000, 20, '/', 401, 3);
    uploads($ports, 20_000_000, 10, '/', 413, 22);
    uploads(array_filter($ports, fn($name) => str_contains($name, 'worker'), ARRAY_FILTER_USE_KEY), 2_000_000, 20, '/?long=1', 401, 100_000);
};
$cases['serve: worker mode answers as nginx with php-fpm'] = function () {
    require_once HERE . '/parity.inc';
    require_once dirname(HERE) . '/sapi/fastcgi.php';
    mkdir(WORK . '/parity/public', recursive: true);
    foreach (['index.php', 'seen.php'] as $file) {
        copy(HERE . "/parity/$file", WORK . "/parity/public/$file");
    }
    $fpm = new \Sapi\Fpm(trim((string) shell_exec('command -v php-fpm || command -v php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION)), WORK, ['display_errors' => '0', 'output_buffering' => '4096', 'register_argc_argv' => '0',
        'request_order' => 'GP', 'variables_order' => 'GPCS']); // as the settings that PHP recommends
    $port = free_port();
    $nginx = new Proxy('nginx', \Parity\nginx(WORK . '/parity/public', "127.0.0.1:$port", $fpm->socket), $port);
    $serve = new Serving('--log', 'off', '--mode', 'worker', '--set', 'max_body_size=20000000', '--php', PHP_BINARY, WORK . '/parity/public/index.php');
    same(true, count(\Parity\DIFFERENCES) <= 10);
    [$wrong, $unmet] = \Parity\compare("tcp://127.0.0.1:$port", 'tcp' . substr($serve->url, 4));
    same([], $wrong);
    same([], $unmet);
};
$cases['serve: a handler, files, a log, and SIGTERM during a request'] = function () {
    @mkdir(WORK . '/public');
    file_put_contents(WORK . '/public/a.txt', 'the file');
    app('other.php', 'const SLOW = 1;');
    $app = app('app.php', <<<'PHP'
        require __DIR__ . '/other.php';
        echo implode(' ', array_slice($argv, 1)), "\n";
        return function (Async\Http\Request $r) {
            if ($r->path() === '/slow') { file_put_contents(__DIR__ . '/begun', ''); while (!file_exists(__DIR__ . '/go')) usleep(10_000); }
            if ($r->path() === '/throw') throw new Exception('thrown');
            return $r->method() === 'POST' ? strlen($r->body()) . '' : "Hello {$r->path()}";
        };
        PHP);
    array_map(fn($file) => @unlink(WORK . "/$file"), ['begun', 'go']);
    $serve = new Serving($app, '--files', 'public', '--files', '/other=public', '--set', 'max_body_size=10', 'one', '--', '--two');
    same('Hello /', $serve->get('/'));
    same('the file', $serve->get('/a.txt'));
    same('the file', $serve->get('/other/a.txt'));
    same('10', $serve->get('/', '-d 0123456789'));
    same('413', $serve->get('/', "-o /dev/null -w '%{http_code}' -d 01234567890"));
    same(true, str_contains($error = $serve->get('/throw', '-i'), ' 500 ') && !str_contains($error, 'thrown'));
    same(true, str_contains($serve->errors(), 'thrown'));
    $slow = popen("curl -s $serve->url/slow", 'r');
    until(fn() => file_exists(WORK . '/begun'));
    $serve->signal();
    until(fn() => str_contains($serve->errors(), 'Stopping'));
    until(fn() => @stream_socket_client(str_replace('http', 'tcp', $serve->url)) === false);
    touch(WORK . '/go');
    same('Hello /slow', stream_get_contents($slow));
    same(0, $serve->end());
    $log = file_get_contents(WORK . '/serve.out');
    same(1, preg_match('~^one --two\n127\.0\.0\.1 - - \[.*\] "GET / HTTP/1\.1" 200 7 .*"GET /a\.txt HTTP/1\.1" 200 8 .*"GET /slow HTTP/1\.1" 200 11 ~s', $log));
};
$cases['serve: compression, and the PROXY protocol'] = function () {
    $app = app('long.php', 'return fn(Async\Http\Request $r) => str_repeat($r->clientAddress(), 1000);');
    $trusted = '--set=trusted_proxies=127.0.0.1';
    $serve = new Serving($app, '--set', 'compression=true', $trusted, '--proxy-protocol');
    same(str_repeat('127.0.0.1', 1000), $serve->get('/', '--haproxy-protocol'));
    $head = $serve->get('/', "--haproxy-protocol -H 'Accept-Encoding: gzip' -o /dev/null -D -");
    same(1, preg_match('~^content-encoding: gzip\r?$~im', $head));
    same(1, preg_match('/status (16|18|52|56)/', $serve->get('/')));
    $serve->signal();
    same(0, $serve->end());
    $serve = new Serving($app, '--set', 'compression=false', $trusted);
    same(0, preg_match('~^content-encoding~im', $serve->get('/', "-H 'Accept-Encoding: gzip' -o /dev/null -D -")));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: worker mode with TLS, and Ctrl+C twice'] = function () {
    $app = app('worker.php', <<<'PHP'
        return function () {
            header('X-Mode: worker');
            echo "Hi $_GET[name] over ", $_SERVER['HTTPS'] ?? 'nothing';
            if ($_GET['name'] === 'slow') { ob_flush(); flush(); sleep(1000); }
        };
        PHP);
    $serve = new Serving('--mode=worker', '--tls', 'one.pem,one.key', '--log', 'json', '--dev', $app);
    same(1, preg_match('~^x-mode: worker.*Hi you over on$~ism', $serve->get('/?name=you', '-i')));
    $slow = popen('curl -sN --cacert ' . WORK . "/one.pem '$serve->url/?name=slow'", 'r');
    same('Hi slow over on', fread($slow, 100));
    $serve->signal(SIGINT);
    until(fn() => str_contains($serve->errors(), 'Stopping'));
    $serve->signal(SIGINT);
    same(0, $serve->end());
    stream_get_contents($slow);
    $entry = json_decode(strtok(file_get_contents(WORK . '/serve.out'), "\n"), true);
    same(['/?name=you', 'https', 200], [$entry['target'], $entry['scheme'], $entry['status']]);
};
$cases['serve: certificates are read again at SIGHUP'] = function () {
    array_map(fn($end) => copy(WORK . "/one.$end", WORK . "/served.$end"), ['pem', 'key']);
    $serve = new Serving('--tls', 'served.pem,served.key', app('app.php', 'return fn() => "fine";'));
    same('fine', $serve->get('/'));
    array_map(fn($end) => copy(WORK . "/two.$end", WORK . "/served.$end"), ['pem', 'key']);
    $serve->signal(SIGHUP);
    until(fn() => $serve->get('/') === ' (status 60)');
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: what has changed is seen, and errors are shown'] = function () {
    $app = app('app.php', 'require __DIR__ . "/part.php"; return fn() => part();');
    app('part.php', 'function part() { return "first"; }');
    $serve = new Serving('--dev', $app);
    $sees = fn(string $text) => until(function () use ($serve, $text) {
        $page = $serve->get('/');
        str_contains($page, '(status 7)') && throw new \Exception('a connection was refused');
        return str_contains($page, $text);
    });
    $sees('first');
    foreach ([
        'function part() { return "second"; }' => 'second',
        'function part() { return "third" }' => 'ParseError: syntax error', // not even loaded
        'function part() { return "fourth"; }' => 'fourth',
        'function part() {} function part() {}' => 'Cannot redeclare', // a fatal error
        'function part() { throw new Exception("<fifth>"); }' => 'Exception: &lt;fifth&gt;',
        'function part() { exit("gone"); }' => '(status 52)', // the end of the process
        'function part() { return "sixth"; }' => 'sixth',
    ] as $code => $page) {
        app('part.php', $code);
        $sees($page);
    }
    app('app.php', 'return 1;');
    $sees('app.php returns int, and must return what handles a request');
    app('app.php', 'return fn() => "seventh";');
    $sees('seventh');
    $serve->signal();
    same(0, $serve->end());
    same(true, @stream_socket_client(str_replace('http', 'tcp', $serve->url)) === false);
    // In worker mode PHP shows its errors.
    $serve = new Serving('--dev', '--mode', 'worker', app('app.php', 'return function () { echo $undefined; throw new Exception("in a worker"); };'));
    $page = $serve->get('/', '-i');
    same([true, true, true], [str_contains($page, ' 500 '), str_contains($page, '$undefined'), str_contains($page, 'in a worker')]);
};
$cases['serve: what is idle does not wake up'] = function () {
    $serve = new Serving('--log', 'off', app('idle.php', 'return fn() => "idle";'));
    $connection = stream_socket_client('tcp' . substr($serve->url, 4));
    fwrite($connection, "GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    same(true, str_contains(fread($connection, 8192), ' 200 '));
    /** How often threads of the command and of PHP have begun to run. */
    $runs = static function () use ($serve): array {
        $processes = [$serve->process(), ...array_filter(explode(' ', trim(file_get_contents("/proc/{$serve->process()}/task/{$serve->process()}/children"))))];
        foreach (array_merge(...array_map(static fn ($process) => glob("/proc/$process/task/*/status"), $processes)) as $file) {
            preg_match('~^Name:\s(.*)$.*^voluntary_ctxt_switches:\s(\d+)~ms', (string) @file_get_contents($file), $found) && $runs[] = "$found[1]: $found[2]";
        }
        return $runs;
    };
    // Buffers are given back after a second, and threads end.
    $before = [];
    for ($i = 0; $i < 10 && $before !== ($now = $runs()); $i++) {
        $before = $now;
        sleep(3);
    }
    same($before, $runs());
};
$cases['serve: programs that the app starts have nothing of it'] = function () {
    $app = app('programs.php', <<<'PHP'
        return function (Async\Http\Request $r) {
            $r->files();
            $open = proc_open(['sh', '-c', 'ls -l /proc/$$/fd'], [['file', '/dev/null', 'r'], ['pipe', 'w'], ['file', '/dev/null', 'w']], $pipes);
            return stream_get_contents($pipes[1]) . shell_exec('ls -l /proc/$$/fd');
        };
        PHP);
    $targets = static fn (string $listed) => preg_match_all('~ (\d+) -> (.+)$~m', $listed, $found, PREG_SET_ORDER)
        ? array_column(array_filter($found, static fn (array $one) => $one[1] > 2), 2) : [];
    file_put_contents(WORK . '/part', 'the part');
    mkdir(WORK . '/beside');
    file_put_contents(WORK . '/beside/file', 'the file');
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $own = 'socket:[' . fstat($listener)['ino'] . ']';
    foreach (glob('/proc/self/fd/*') as $file) {
        @readlink($file) === $own && $number = basename($file);
    }
    foreach ([['--listen', "fd:$number"], ['--files', '/beside=beside'], ['--tls', 'one.pem,one.key'], ['--dev', '--set', 'compression=true']] as $arguments) {
        $serve = new Serving(...$arguments, ...['--log', 'off', $app]);
        $inherited = array_map(static fn (string $file) => (string) @readlink($file), glob('/proc/self/fd/*'));
        $inherited = array_diff($inherited, $arguments[0] === '--listen' ? [$own] : []); // that one is the server's
        $listed = $serve->get('/', '-F a=@' . WORK . '/part -F b=@' . WORK . '/part');
        same(2, substr_count($listed, ' 2 -> '));
        same([], array_values(array_diff($targets($listed), $inherited)));
        unset($serve);
    }
};
$cases['serve: two processes share a port'] = function () {
    $app = app('shared.php', 'return fn() => (string) getmypid();');
    $first = new Serving($app, '--reuse-port');
    $port = substr(strrchr($first->url, ':'), 1);
    $second = new Serving($app, '--reuse-port', '--listen', "127.0.0.1:$port");
    $served = [];
    // Each has its own addresses by a hash: that all of these go to one has a chance of 1 in 2^199.
    for ($i = 0; $i < 200; $i++) $served[$first->get('/')] = true;
    same(2, count($served));
    $first->signal();
    same(0, $first->end());
    same(array_fill(0, 20, $pid = $second->get('/')), array_map(fn() => $second->get('/'), range(1, 20)));
    same(true, isset($served[$pid]));
    // One that does not want to share it is refused, and so is one that comes to a port which its owner does not share.
    $serve = fn(string ...$arguments) => shell('env -C ' . WORK . ' ' . implode(' ', array_map(escapeshellarg(...), [dirname(EXTENSION) . '/spindle', 'serve', '--extension', EXTENSION, ...$arguments])) . ' 2>&1');
    $refused = "spindle: Cannot listen at 127.0.0.1:$port: Address already in use (status 1)";
    same($refused, $serve($app, '--listen', "127.0.0.1:$port"));
    $second->signal();
    same(0, $second->end());
    $alone = new Serving($app, '--listen', "127.0.0.1:$port");
    same($refused, $serve($app, '--reuse-port', '--listen', "127.0.0.1:$port"));
    $alone->signal();
    same(0, $alone->end());
};
$cases['serve: one whose command is killed ends'] = function () {
    $serve = new Serving('--dev', app('app.php', 'return fn() => getmypid() . "";'));
    $pid = $serve->get('/');
    $serve->signal(SIGKILL);
    until(fn() => !file_exists("/proc/$pid"));
};
$cases['serve: async.diagnostics warns of coroutines of the app, and of none of the command'] = function () {
    foreach (['handler' => '"Hello"', 'application' => 'function () { echo "Hello"; }'] as $mode => $handler) {
        $app = app('app.php', "Async\\spawn(fn() => 1); return fn() => $handler;");
        $serve = new Serving('-d', 'async.diagnostics=1', '--dev', '--log', 'off', '--mode', $mode, $app);
        same('Hello', $serve->get('/'));
        until(fn() => str_contains($serve->errors(), 'never awaited'));
        $serve->signal();
        same(0, $serve->end());
        preg_match_all('/PHP Warning: .* in (.*) on line/', $serve->errors(), $warnings);
        same([WORK . '/app.php'], array_unique($warnings[1]));
    }
};
$cases['serve: instances of an application'] = function () {
    app('library.php', 'final class Session { public static ?string $user = null; public static int $requests = 0; }');
    $app = app('application.php', 'require_once __DIR__ . "/library.php"; return function (int $instance) {
        return function () use ($instance) {
            Session::$requests++;
            Session::$user = $_GET["user"];
            usleep(20_000);
            echo Session::$user, " ", $instance, " ", ini_get("opcache.enable_cli");
        };
    };');
    $serve = new Serving('--mode', 'application', '--instances', '4', $app);
    same(1, preg_match('/\(application mode, 4 instances, opcache on, time slice 10 ms\)/', $serve->errors()));
    shell('bash -c ' . escapeshellarg('for i in $(seq 40); do curl -s --max-time 30 -o ' . WORK . '/answer$i "' . $serve->url . '/?user=user$i" & done; wait'));
    $instances = [];
    for ($i = 1; $i <= 40; $i++) {
        same(1, preg_match("/^user$i ([0-3]) 1$/", file_get_contents(WORK . "/answer$i"), $found));
        $instances[$found[1]] = true;
    }
    same(4, count($instances));
    // New code, and no connection is refused.
    app('application.php', 'return fn() => fn() => print "new";');
    $serve->signal(SIGHUP);
    until(fn() => $serve->get('/?user=x') === 'new');
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: what is wrong is one line, and status 1'] = function () {
    $taken = stream_socket_server('tcp://127.0.0.1:0');
    $port = stream_socket_get_name($taken, false);
    $fine = app('fine.php', 'return fn() => "";');
    file_put_contents(WORK . '/unreadable.pem', 'x');
    foreach ([
        "--listen $port $fine" => "Cannot listen at $port: Address already in use",
        "--dev --listen $port $fine" => "Cannot listen at $port: Address already in use",
        "--listen nowhere $fine" => 'is no address to listen at',
        "--dev --listen nowhere $fine" => 'is no address to listen at',
        "--tls none.pem,one.key $fine" => 'none.pem cannot be read',
        "--tls unreadable.pem,one.key $fine" => 'unreadable.pem',
        "--tls two.pem,one.key $fine" => 'two.pem',
        "--files none $fine" => 'none cannot be opened',
        "--set none=1 $fine" => 'There is no option "none"',
        "--set max_body_size=much $fine" => 'The option "max_body_size" must be an int',
        'none.php' => 'none.php: No such file or directory',
        "--php /bin/true $fine" => 'is not a PHP',
        "--extension none.so $fine" => 'there is no ',
        app('int.php', 'return 1;') => 'int.php returns int, and must return what handles a request',
        app('nothing.php', 'echo "";') => 'nothing.php returns int',
        app('parse.php', 'return fn( ;') => 'parse.php: ParseError: syntax error',
        '--mode application ' . app('boots-badly.php', 'ini_set("log_errors", 0); return fn() => throw new Exception("no database");') => 'No instance of the application could be booted',
        app('throws.php', 'throw new Exception("two\nlines");') => 'throws.php: Exception: two lines in ',
        '--mode application ' . app('boots-nothing.php', 'return 1;') => 'as in: return fn (int $instance) => function (): void',
        app('fatal.php', 'function f() {} function f() {}') => 'Cannot redeclare',
    ] as $arguments => $expected) {
        $extension = str_contains($arguments, '--extension') ? '' : '--extension ' . EXTENSION;
        $listen = str_contains($arguments, '--listen') ? '' : '--listen 127.0.0.1:0';
        $lines = explode("\n", shell('bash -c ' . escapeshellarg('cd ' . WORK . " && exec " . dirname(EXTENSION) . "/spindle serve $extension $listen $arguments")));
        count($lines) === 1 && str_contains($lines[0], $expected) && str_ends_with($lines[0], ' (status 1)')
            || throw new \Exception("$arguments: " . implode("\n", $lines));
    }
};
