<?php
/**
 * A raw-stream server: `php server.php spindle|plain echo|http`; or Async\Http\Server: `php server.php spindle
 * handler|worker|tls`. Prints its port and its process id, then serves until it is killed. The Spindle side is one coroutine per connection over ordinary blocking streams, the plain
 * side one `stream_select` loop over non-blocking ones; what is done with the bytes is the same.
 */
const END = "\r\n\r\n";
const REPLY = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5" . END . 'Hello';

/** Takes what is complete out of $in and gives what to send for it. */
function answer(string &$in, bool $http): string
{
    if (!$http) {
        $out = $in;
        $in = '';
        return $out;
    }
    $requests = substr_count($in, END);
    if ($requests === 0) {
        return '';
    }
    $in = substr($in, strrpos($in, END) + 4); // a GET ends with its head
    return str_repeat(REPLY, $requests);
}

/** One connection, in a coroutine. */
function connection($stream, bool $http): void
{
    $in = '';
    while (($chunk = fread($stream, 8192)) !== '' && $chunk !== false) {
        $in .= $chunk;
        $out = answer($in, $http);
        if ($out !== '') {
            fwrite($stream, $out);
        }
    }
    fclose($stream);
}

function withCoroutines($server, bool $http): void
{
    while (true) {
        $stream = @stream_socket_accept($server, 3600);
        if ($stream) {
            Async\spawn('connection', $stream, $http);
        }
    }
}

function withSelect($server, bool $http): void
{
    $none = null;
    $streams = [$server];
    $in = [];
    stream_set_blocking($server, false);
    while (true) {
        $ready = $streams;
        stream_select($ready, $none, $none, null);
        foreach ($ready as $id => $stream) {
            if ($id === 0) {
                while ($new = @stream_socket_accept($server, 0)) {
                    stream_set_blocking($new, false);
                    $streams[] = $new;
                    $in[array_key_last($streams)] = '';
                }
                continue;
            }
            $chunk = fread($stream, 8192);
            if ($chunk === '' || $chunk === false) {
                if (feof($stream)) {
                    fclose($stream);
                    unset($streams[$id], $in[$id]);
                }
                continue;
            }
            $in[$id] .= $chunk;
            $out = answer($in[$id], $http);
            if ($out !== '') {
                fwrite($stream, $out); // these replies fit any send buffer
            }
        }
    }
}

[, $mode, $kind] = $argv;
if (in_array($kind, ['handler', 'peers', 'tls', 'worker'], true)) {
    $tls = $kind === 'tls' && $mode === 'spindle' ? new Async\Http\Tls(getenv('BENCH_TLS') . '.pem', getenv('BENCH_TLS') . '.key') : null;
    $server = (new Async\Http\Server())->listen('127.0.0.1:0', $tls);
    if ($kind === 'worker') {
        $server->worker(static function (): void {
            header('Content-Type: text/plain');
            echo isset($_GET['page'], $_COOKIE['session'], $_SERVER['HTTP_HOST']) ? 'Hello' : 'Wrong';
        });
    } else {
        $server->handle(static fn() => new Async\Http\Response('Hello', 200, ['Content-Type' => 'text/plain']));
    }
    echo substr(strrchr($server->address(), ':'), 1), ' ', getmypid(), "\n";
    flush();
    $server->run();
    exit;
}
$server = stream_socket_server('tcp://127.0.0.1:0', $code, $message, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN,
    stream_context_create(['socket' => ['backlog' => 511]]));
if (!$server) {
    fwrite(STDERR, "listen: $message\n");
    exit(1);
}
echo substr(strrchr(stream_socket_get_name($server, false), ':'), 1), ' ', getmypid(), "\n";
flush();
$mode === 'spindle' ? withCoroutines($server, $kind === 'http') : withSelect($server, $kind === 'http');
