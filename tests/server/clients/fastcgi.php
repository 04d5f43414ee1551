<?php
/*
 * Scripts that php-fpm runs behind the server: what they see, and get, beside nginx with the same php-fpm; and what goes wrong.
 */

declare(strict_types=1);

namespace ServerTests;

require_once dirname(HERE) . '/sapi/fastcgi.php';

/** Prints what a script sees. */
const SEEN = <<<'PHP'
    <?php
    header('Content-Type: application/json');
    $body = file_get_contents('php://input');
    $files = array_map(fn ($file) => [$file['name'], $file['size'], $file['error'], md5_file($file['tmp_name'])], $_FILES);
    echo json_encode(['server' => $_SERVER, 'get' => $_GET, 'post' => $_POST, 'cookie' => $_COOKIE, 'files' => $files, 'body' => [strlen($body), md5($body)]], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
    PHP;

/** A folder with scripts, and a php-fpm. */
function scripts(string $name, array $scripts = [], array $pool = []): array
{
    $folder = WORK . "/$name";
    $scripts += ['index.php' => SEEN, 'a.php' => SEEN, 'c d.php' => SEEN, 'admin/index.php' => SEEN, 'admin/b.php' => SEEN, 'uploads/x.jpg' => '<?php echo "run";',
        'empty/x' => '', '.git/x.php' => SEEN, '.env' => 'secret', 'a.phtml' => SEEN, 's.css' => 'css'];
    foreach ($scripts as $file => $text) {
        @mkdir(dirname("$folder/$file"), recursive: true);
        file_put_contents("$folder/$file", $text);
    }
    file_put_contents(WORK . '/outside.php', '<?php echo "outside";');
    @symlink('../outside.php', "$folder/out.php");
    $program = trim((string) shell_exec('command -v php-fpm || command -v php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION));
    return [$folder, new \Sapi\Fpm($program, WORK, ['display_errors' => '0', 'log_errors' => '1', 'post_max_size' => '30M', 'upload_max_filesize' => '30M'], $pool)];
}

/** The server, with these scripts. Its error log is `stderr` in the folder WORK. */
function passing(string $folder, \Sapi\Fpm $fpm, array $options = [], string $more = ''): App
{
    [$site, $folder, $address] = array_map(fn ($value) => var_export($value, true), [$options['site'] ?? [], $folder, "unix:$fpm->socket"]);
    unset($options['site']);
    $code = '$server = new Async\Http\Server(' . var_export($options + ['send_request_id' => true], true) . ");\n$more\n" . <<<PHP
        \$server->files('/', $folder)->fastcgi('/', $address, $folder, $site)->listen('127.0.0.1:0');
        echo \$server->address(), "\\n";
        Async\spawn(function () use (\$server) { Async\await(Async\signal(SIGTERM)); \$server->stop(30); });
        \$server->run();
        PHP;
    return new App(WORK . '/' . app('passing.php', $code));
}

/** nginx as its own configuration has it in Debian: `snippets/fastcgi-php.conf`, `fastcgi.conf`, and a script in front. */
function nginx_for(string $folder, \Sapi\Fpm $fpm, int $port): Proxy
{
    return new Proxy('nginx', <<<CONF
        server {
            listen 127.0.0.1:$port; server_name 127.0.0.1; root $folder; index index.php; client_max_body_size 30m; default_type text/plain;
            location / { try_files \$uri \$uri/ /index.php\$is_args\$args; }
            location ~ /\.(?!well-known) { deny all; }
            location ~ [^/]\.php(/|$) {
                fastcgi_split_path_info ^(.+?\.php)(/.*)$;
                try_files \$fastcgi_script_name =404;
                set \$path_info \$fastcgi_path_info;
                fastcgi_param PATH_INFO \$path_info;
                fastcgi_index index.php;
                include /etc/nginx/fastcgi.conf;
                fastcgi_pass unix:$fpm->socket;
            }
        }
        CONF, $port);
}

/** Returns the status, and what the script has seen, without what differs by server. */
function seen_at(string $url, string $path, string $options): array
{
    $answer = shell("curl -s --path-as-is --max-time 30 -w '\\n%{http_code}' $options " . escapeshellarg("$url$path"));
    $end = strrpos($answer, "\n");
    $seen = json_decode(substr($answer, 0, $end), true);
    $own = ['SERVER_SOFTWARE', 'SERVER_PORT', 'REMOTE_PORT', 'REQUEST_TIME', 'REQUEST_TIME_FLOAT', 'HTTP_HOST', 'REMOTE_USER'];
    if ($seen) {
        $seen['server'] = array_diff_key($seen['server'], array_flip($own));
        ksort($seen['server']);
    }
    return [substr($answer, $end + 1), $seen];
}

$cases['serve: fastcgi: what scripts see is what they see with nginx'] = function () {
    [$folder, $fpm] = scripts('seen');
    file_put_contents(WORK . '/form', "--line\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n\"\r\n\r\ntext\r\n--line--\r\n");
    $nginx = nginx_for($folder, $fpm, $port = free_port());
    $app = passing($folder, $fpm, ['max_body_size' => 30_000_000]);
    $paths = ['/', '/a.php', '/a.php?x=1&y[]=2&y[]=3', '/a.php/info/more%20x/?q', '/admin/', '/admin/b.php', '/post/name?x=%20', '/post/%E4/', '/%61.php', '//a.php', '/admin/../a.php',
        '/c%20d.php', '/a.php/b.php', '/a.php/', '/admin/index.php/x', '/?', '/a.php?', '/.well-known/x', // and what is not run:
        '/nothing.php', '/uploads/x.jpg/y.php', '/uploads/x.jpg%00.php', '/.git/x.php', '/.env', '/../outside.php', '/empty/', '/admin/%2e%2e/a.php', '/%zz'];
    $wrong = [];
    foreach ($paths as $path) {
        [$there, $here] = [seen_at("http://127.0.0.1:$port", $path, ''), seen_at($app->url, $path, '')];
        $there === $here || $wrong[$path] = [$there, $here];
    }
    $requests = ["-d 'a=1&b[]=2'", '-H "Content-Type: multipart/form-data; boundary=line" --data-binary @' . WORK . '/form', '-X PUT -H "Content-Type: application/json" -d "{}"', '-X DELETE', '-X OPTIONS', '-0', '-X POST -H "Content-Length: 0"',
        '-H "Cookie: a=b; c=d" -H "X-One: 1" -H "X_Bad: 1" -H "Proxy: http://evil" -H "X.Dot: 1"', '-u user:secret', '-H "Authorization: Bearer x"', '-T ' . WORK . '/data',
        "-H 'PHP_VALUE: auto_prepend_file=/etc/passwd' -H 'PHP-ADMIN-VALUE: disable_functions=' -H 'Content_Length: 5' -H 'HTTPS: on'",
        '-H "Transfer-Encoding: chunked" -H "Expect:" --data-binary @' . WORK . '/data'];
    foreach ($requests as $request) {
        [$there, $here] = [seen_at("http://127.0.0.1:$port", '/a.php?x', $request), seen_at($app->url, '/a.php?x', $request)];
        $there === $here || $wrong[$request] = [$there, $here];
    }
    // Cookies of HTTP/2 come in pieces.
    same('a=b; c=d', seen_at($app->url, '/a.php', '--http2-prior-knowledge -H "Cookie: a=b" -H "Cookie: c=d"')[1]['server']['HTTP_COOKIE']);
    same([], array_map(fn ($both) => array_map(fn ($one) => [$one[0], array_diff_assoc(array_map('json_encode', $one[1]['server'] ?? []),
        array_map('json_encode', array_intersect_key($both[0][1]['server'] ?? [], $both[1][1]['server'] ?? []) === [] ? [] : ($one === $both[0] ? $both[1][1]['server'] : $both[0][1]['server'])))], $both), $wrong));
};
$cases['serve: fastcgi: nothing but scripts is run, and no script is sent'] = function () {
    [$folder, $fpm] = scripts('tricks');
    $app = passing($folder, $fpm);
    $status = fn (string $path, string $options = '') => shell("curl -s --path-as-is -o " . WORK . "/tricked -w '%{http_code}' $options " . escapeshellarg("$app->url$path"));
    same('css', curl($app, '/s.css'));
    foreach (['/uploads/x.jpg/y.php' => '404', '/uploads/x.jpg%2fy.php' => '200', '/uploads/x.jpg%00.php' => '400', '/uploads/x.jpg%0a.php' => '200', '/out.php' => '404', '/.git/x.php' => '403',
        '/.env' => '403', '/../outside.php' => '400', '/%2e%2e/outside.php' => '400', '/a.phtml' => '404', '/a.php%20' => '200', '/a.PHP' => '200', '/uploads/x.jpg' => '200', '/uploads/x.jpg/' => '200'] as $path => $expected) {
        same([$path, $expected], [$path, $status($path)]);
        $text = file_get_contents(WORK . '/tricked');
        // It is for the script in front, or a file as it is.
        same([$path, false], [$path, str_contains($text, 'outside') || $text === 'run' || str_contains($text, 'secret')]);
        $expected === '200' && $path !== '/uploads/x.jpg' && same([$path, "$folder/index.php"], [$path, json_decode($text, true)['server']['SCRIPT_FILENAME'] ?? substr($text, 0, 200)]);
        same([$path, $path === '/uploads/x.jpg'], [$path, str_contains($text, '<?php')]);
    }
    same('404', $status('/uploads/x.jpg', '-d x'));
    same('301', $status('/admin'));
    same('404', $status('/nothing.php'));
};
$cases['serve: fastcgi: bodies and responses of any size, slow ones, and both at once'] = function () {
    [$folder, $fpm] = scripts('sizes', [
        'large.php' => '<?php for ($i = 0; $i < 300; $i++) echo str_repeat(chr(65 + $i % 26), 100_000);',
        'early.php' => '<?php echo str_repeat("early", 100_000);', // it does not read what it is sent
        'copy.php' => '<?php $in = fopen("php://input", "r"); while (!feof($in)) echo fread($in, 8192);',
        'short.php' => '<?php header("Content-Length: 100"); echo "short";',
        'late-short.php' => '<?php header("Content-Length: 100"); echo "short"; flush(); usleep(200_000);', // the head has left before
        'long.php' => '<?php header("Content-Length: 2"); echo "longer";', 'late-long.php' => '<?php header("Content-Length: 2"); echo "l"; flush(); usleep(200_000); echo "onger"; flush(); echo "x";',
        'none.php' => '<?php http_response_code(204);', 'reason.php' => '<?php header("HTTP/1.1 299 Quite"); echo 1;', 'to.php' => '<?php header("Location: /a.php");',
        'many.php' => '<?php for ($i = 0; $i < 3000; $i++) header("X-$i: " . str_repeat("x", 50));', 'stream.php' => '<?php echo "one\n"; flush(); while (!file_exists(__DIR__ . "/go")) usleep(10_000); echo "two\n";',
    ], ['pm.max_children' => '4']);
    $app = passing($folder, $fpm, ['max_body_size' => 30_000_000]);
    file_put_contents(WORK . '/upload', str_repeat(random_bytes(1_000_000), 20));
    $upload = WORK . '/upload';
    $sum = md5_file($upload);
    same([20_000_000, $sum], json_decode(curl($app, '/a.php', "-T $upload"), true)['body']);
    $chunked = json_decode(curl($app, '/a.php', "-H 'Transfer-Encoding: chunked' -H 'Content-Type: application/x' --data-binary @$upload"), true);
    same([[20_000_000, $sum], '20000000'], [$chunked['body'], $chunked['server']['CONTENT_LENGTH']]);
    same(['large', filesize(WORK . '/large'), 0, md5_file(WORK . '/large')], json_decode(curl($app, '/a.php', '-F f=@' . WORK . '/large'), true)['files']['f']);
    same($sum, explode(' ', shell("curl -s -T $upload $app->url/copy.php | md5sum"))[0]);
    same([500_000, 30_000_000], [strlen(curl($app, '/early.php', "-T $upload")), strlen(curl($app, '/large.php'))]);
    same('413', curl($app, '/a.php', "-o /dev/null -w '%{http_code}' -T $upload -H 'Content-Length: 30000001'"));
    same('502', curl($app, '/short.php', "-o /dev/null -w '%{http_code}'"));
    same(true, str_contains(curl($app, '/late-short.php'), '(status 18)'));
    same(['lo', 'lo'], [curl($app, '/long.php'), curl($app, '/late-long.php')]);
    same(true, str_contains(curl($app, '/none.php', '-i'), '204 No Content'));
    same(true, str_contains(curl($app, '/reason.php', '-i'), '299 Quite'));
    same(true, str_contains($to = curl($app, '/to.php', '-i'), '302 Found') && str_contains($to, 'location: /a.php'));
    same(true, str_contains(curl($app, '/many.php', '-i'), '502 Bad Gateway'));
    $head = curl($app, '/a.php', '-I');
    same([true, false], [str_contains($head, ' 200 OK'), str_contains($head, 'content-length')]);
    // What is written is there before the end.
    $stream = popen("curl -sN $app->url/stream.php", 'r');
    same("one\n", fgets($stream));
    touch("$folder/go");
    same("two\n", fgets($stream));
    // A client that sends slowly keeps no process of PHP, of which there are four.
    [$host, $port] = explode(':', $app->address);
    $slow = array_map(function () use ($host, $port) {
        $client = stream_socket_client("tcp://$host:$port");
        fwrite($client, "POST /a.php HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nConnection: close\r\n\r\n01234");
        return $client;
    }, range(1, 20));
    same([0, md5('')], json_decode(curl($app, '/a.php'), true)['body']);
    foreach ($slow as $client) {
        fwrite($client, '56789');
    }
    foreach ($slow as $client) {
        same(1, preg_match('/"body":\[10,"' . md5('0123456789') . '"\]/', stream_get_contents($client)));
    }
};
$cases['serve: fastcgi: a client that leaves, time that passes, and errors'] = function () {
    [$folder, $fpm] = scripts('leaves', [
        'ticks.php' => '<?php for (;;) { echo str_repeat("x", 1000), "\n"; flush(); usleep(10_000); } ',
        'sleep.php' => '<?php file_put_contents(__DIR__ . "/sleeps", ""); register_shutdown_function(fn () => 0); while (!file_exists(__DIR__ . "/wake")) usleep(10_000); echo "awake";',
        'forge.php' => '<?php error_log("one\n[request 0123] two\e[31m\rthree\u{9b}"); echo "forged";',
        'error.php' => '<?php error_log("what went wrong"); echo "fine";', 'fatal.php' => '<?php nothing();', 'exits.php' => '<?php exec("kill -9 " . getmypid());',
    ], ['pm.max_children' => '1', 'catch_workers_output' => 'no']);
    $app = passing($folder, $fpm, ['request_timeout' => 5]);
    same('xxx', substr(shell("curl -s --max-time 1 $app->url/ticks.php"), 0, 3));
    same([0, md5('')], json_decode(curl($app, '/a.php'), true)['body']); // PHP has noticed: its only process is free
    same('504', curl($app, '/sleep.php', "-o /dev/null -w '%{http_code}'"));
    touch("$folder/wake");
    same('fine', curl($app, '/error.php'));
    $log = fn () => file_get_contents(WORK . '/stderr');
    until(fn () => preg_match('~^\[request [0-9a-f]{32}\] .*what went wrong~m', $log()) === 1);
    // No line of the log is the script's own, and none controls a terminal.
    same('forged', curl($app, '/forge.php'));
    until(fn () => preg_match('~^\[request [0-9a-f]{32}\] .*one\n  \[request 0123\] two\\\\u\{1b\}\[31m\\\\u\{d\}three\\\\u\{9b\}$~m', $log()) === 1);
    same('500', curl($app, '/fatal.php', "-o /dev/null -w '%{http_code}'"));
    until(fn () => preg_match('~^\[request [0-9a-f]{32}\] .*nothing\(\)~m', $log()) === 1);
    same('502', curl($app, '/exits.php', "-o /dev/null -w '%{http_code}'"));
    until(fn () => preg_match('~^\[request [0-9a-f]{32}\] FastCGI server unix:\S+: .* before its response~m', $log()) === 1);
    same([0, md5('')], json_decode(curl($app, '/a.php'), true)['body']);
};
$cases['serve: fastcgi: connections that are kept, busy ones, and a php-fpm that is started again'] = function () {
    [$folder, $fpm] = scripts('kept', ['pid.php' => '<?php echo getmypid(), " 1";', 'wait.php' => '<?php file_put_contents(__DIR__ . "/waits", ""); while (!file_exists(__DIR__ . "/go")) usleep(10_000); echo "waited";'],
        ['pm.max_children' => '2', 'pm.max_requests' => '50']);
    $code = fn (string $options, string $socket) => 'foreach ([' . $options . '] as $prefix => $its) { $server->fastcgi($prefix, "unix:' . $socket . '", ' . var_export($folder, true) . ', $its); }';
    $app = passing($folder, $fpm, ['queue_timeout' => 1], $code("'/kept' => ['keep_connections' => 1, 'connections' => 1]", $fpm->socket));
    // A process ends after fifty requests, and with it the connection: none is lost.
    $pids = [];
    for ($i = 0; $i < 200; $i++) {
        $answer = curl($app, '/kept/pid.php');
        preg_match('/^(\d+) 1$/', $answer, $found) || throw new \Exception("request $i: $answer");
        $pids[$found[1]] = true;
    }
    same(true, count($pids) >= 4 && count($pids) <= 8);
    $waits = popen("curl -s $app->url/kept/wait.php", 'r');
    until(fn () => file_exists("$folder/waits"));
    same('503', curl($app, '/kept/pid.php', "-o /dev/null -w '%{http_code}'")); // it would have to wait for longer than a second
    touch("$folder/go");
    same('waited', stream_get_contents($waits));
    same(1, preg_match('/^\d+ 1$/', curl($app, '/kept/pid.php')));
    unset($app); // php-fpm waits for the connection that is kept
};
$cases['serve: fastcgi: without free descriptors no script is said to be missing'] = function () {
    [$folder, $fpm] = scripts('descriptors');
    $app = passing($folder, $fpm, more: 'file_put_contents(' . var_export("$folder/pid", true) . ', getmypid());');
    [$host, $port] = explode(':', $app->address);
    $client = stream_socket_client("tcp://$host:$port");
    $status = function (string $path) use ($client) {
        fwrite($client, "OPTIONS $path HTTP/1.1\r\nHost: a\r\n\r\n"); // files are looked for with GET and HEAD
        preg_match('~^HTTP/1.1 (\d+)~', $line = (string) fgets($client), $found) || throw new \Exception("no status: $line");
        $length = 0;
        while (($line = rtrim((string) fgets($client))) !== '') {
            $length = preg_match('/^content-length: (\d+)/', $line, $size) ? (int) $size[1] : $length;
        }
        stream_get_contents($client, $length);
        return $found[1];
    };
    same(['404', '403'], [$status('/nothing.php'), $status('/empty/')]);
    $limit = fn (int $most) => same('', shell('prlimit --pid ' . file_get_contents("$folder/pid") . " --nofile=$most:"));
    $limit(3); // those that it has stay, and there are no more
    same(['503', '503', '503'], array_map($status, ['/a.php', '/', '/post/name']));
    $limit(200);
    same('404', $status('/nothing.php'));
};
$cases['serve: fastcgi: files that scripts have sent in their place'] = function () {
    [$folder, $fpm] = scripts('sends', ['accel.php' => '<?php header("X-Accel-Redirect: $_GET[to]"); header("Content-Type: application/x-own"); header("X-Own: 1"); header("Content-Length: 3"); setcookie("a", "b"); echo "its body";',
        'sendfile.php' => '<?php header("X-Sendfile: $_GET[to]"); echo "its body";']);
    @mkdir(WORK . '/private/in', recursive: true);
    $data = substr(file_get_contents(WORK . '/data'), 0, 500_000);
    foreach (['in/a b.zip' => $data, 'x.php' => '<?php secret', '.env' => 'secret'] as $file => $text) {
        file_put_contents(WORK . "/private/$file", $text);
    }
    @symlink('../outside.php', WORK . '/private/out');
    @mkdir(WORK . '/private-2');
    file_put_contents(WORK . '/private-2/second.zip', 'second');
    $app = passing($folder, $fpm, ['site' => ['sendfile' => ['/' => [WORK . '/private-2'], '/protected' => [WORK . '/private', WORK . '/private-2']]]]);
    $get = fn (string $script, string $to, string $options = '') => curl($app, "/$script.php?to=" . rawurlencode($to), $options);
    foreach (['accel' => '/protected/in/a%20b.zip', 'sendfile' => WORK . '/private/in/a b.zip'] as $script => $to) {
        same(md5($data), md5($get($script, $to, '-o ' . WORK . "/sent -w ''") . file_get_contents(WORK . '/sent')));
        same(substr($data, 10, 10), substr(file_get_contents(WORK . '/sent'), 10, 10));
        $head = $get($script, $to, '-D - -o /dev/null -r 10-19');
        same(true, str_contains($head, ' 206 ') && str_contains($head, 'content-range: bytes 10-19/500000') && stripos($head, 'x-accel') === false && stripos($head, 'x-sendfile') === false);
        same($script === 'accel', str_contains($head, 'content-type: application/x-own') && str_contains($head, 'x-own: 1') && str_contains($head, 'set-cookie: a=b'));
        same(1, preg_match('/content-length: 500000/', $get($script, $to, '-I')));
        same(md5($data), md5_file(WORK . '/sent'));
    }
    // Each directory that may have it is tried: the first one of all for any URL, the last one also for the same URLs.
    foreach (['/second.zip', '/protected/second.zip'] as $to) {
        same([$to, 'second'], [$to, $get('accel', $to)]);
    }
    same('second', $get('sendfile', WORK . '/private-2/second.zip'));
    foreach (['/protected/x.php', '/protected/.env', '/protected/out', '/protected/none', '/protected/', '/protected', '/protected/../outside.php', '/protected/%2e%2e/outside.php', '/protected/in/..%2f..%2f..%2foutside.php', '/s.css', '', WORK . '/outside.php'] as $to) {
        same([$to, '404'], [$to, $get('accel', $to, '-o ' . WORK . "/sent -w '%{http_code}'")]);
        same([$to, "404 Not Found\n"], [$to, file_get_contents(WORK . '/sent')]);
    }
    foreach ([WORK . '/outside.php', WORK . '/private/../outside.php', WORK . '/private/out', WORK . '/private/x.php', WORK . '/private', '/etc/passwd', 'in/a b.zip', WORK . '/private-other/x'] as $to) {
        same([$to, '404'], [$to, $get('sendfile', $to, '-o ' . WORK . "/sent -w '%{http_code}'")]);
        same([$to, "404 Not Found\n"], [$to, file_get_contents(WORK . '/sent')]);
    }
    same(1, preg_match('~^\[request [0-9a-f]{32}\] x-sendfile: /etc/passwd names no file that may be sent~m', file_get_contents(WORK . '/stderr')));
    // Without declared directories the header stays here, too.
    $plain = passing($folder, $fpm);
    $answer = curl($plain, '/sendfile.php?to=/etc/passwd', '-i');
    same([true, false, false], [str_ends_with($answer, 'its body'), stripos($answer, 'x-sendfile'), str_contains($answer, 'root:')]);
};
