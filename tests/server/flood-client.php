<?php
/*
 * One client for tests/server/strain that sends as much as it can of one kind, by raw bytes of HTTP/1.1, HTTP/2 or a WebSocket:
 *
 *   flood-client.php ADDRESS KIND
 *
 * Prints "there" when it has sent a lot, or is not taken any more of, or is closed; goes on until a line comes; and prints as JSON
 * what has become of it.
 */

[, $address, $kind] = $argv;

const DATA = 0, HEADERS = 1, PRIORITY = 2, RST_STREAM = 3, SETTINGS = 4, PUSH_PROMISE = 5, PING = 6, GOAWAY = 7, WINDOW_UPDATE = 8, CONTINUATION = 9;
const END_STREAM = 1, ACK = 1, END_HEADERS = 4;

function frame(int $type, int $flags, int $stream, string $payload = ''): string
{
    return substr(pack('N', strlen($payload)), 1) . chr($type) . chr($flags) . pack('N', $stream) . $payload;
}

/** An integer of HPACK with a prefix of so many bits. */
function integer(int $value, int $bits, int $first): string
{
    $most = (1 << $bits) - 1;
    if ($value < $most) return chr($first | $value);
    for ($bytes = chr($first | $most), $value -= $most; $value >= 128; $value >>= 7) $bytes .= chr(128 | $value & 127);
    return $bytes . chr($value);
}

/** A header line that is not in any table; `$indexed`: it comes into that of the connection. */
function line(string $name, string $value, bool $indexed = false): string
{
    return ($indexed ? "\x40" : "\x00") . integer(strlen($name), 7, 0) . $name . integer(strlen($value), 7, 0) . $value;
}

function head(string $path, string $more = '', string $method = 'GET'): string
{
    return ($method === 'GET' ? "\x82" : "\x83") . "\x86\x04" . integer(strlen($path), 7, 0) . $path . "\x01" . integer(1, 7, 0) . 'x' . $more;
}

function request(int $stream, string $path, string $more = ''): string
{
    return frame(HEADERS, END_HEADERS | END_STREAM, $stream, head($path, $more));
}

function upload(int $stream, string $path, string $more = ''): string
{
    return frame(HEADERS, END_HEADERS, $stream, head($path, $more, 'POST'));
}

/** Settings of the client. @param array<int, int> $values by their numbers */
function settings(array $values = []): string
{
    $payload = '';
    foreach ($values as $number => $value) $payload .= pack('nN', $number, $value);
    return frame(SETTINGS, 0, 0, $payload);
}

/** All the same, as often as a block has room for it. */
function repeated(string $bytes): Closure
{
    $block = str_repeat($bytes, max(1, intdiv(1 << 20, strlen($bytes))));
    return fn() => $block;
}

/** What is made for each of the client's streams, so many a block. */
function streams(Closure $make, int $count = 100, int $most = PHP_INT_MAX): Closure
{
    $stream = -1;
    return function () use ($make, $count, &$most, &$stream): string {
        $block = '';
        for ($i = 0; $i < $count && $most-- > 0; $i++) $block .= $make($stream += 2);
        return $block;
    };
}

/** Requests, of which there are never more than can be streams at once. */
function answered(Closure $make): Closure
{
    $sent = 0;
    $requests = streams($make);
    return function () use ($requests, &$sent): string {
        global $found;
        if (($found['responses'] ?? 0) < $sent) return '';
        $sent += 100;
        return $requests();
    };
}

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
$h2 = PREFACE . settings();
$http1 = fn(string $line, string $headers = '') => "$line HTTP/1.1\r\nHost: x\r\n$headers\r\n";
$post = $http1('POST /upload', "Transfer-Encoding: chunked\r\n");
$upgrade = $http1('GET /echo', "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " . base64_encode(str_repeat('k', 16))
    . "\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n");
$message = fn(int $first, string $data) => chr($first) . chr(128 | strlen($data)) . "\0\0\0\0$data";
$open = 2 ** 31 - 1;
$wide = PREFACE . settings([4 => $open]) . frame(WINDOW_UPDATE, 0, 0, pack('N', $open - 65535));

/* What is sent first, what is sent then, and whether what comes is read. Only what is called is made. */
$kinds = [
    // HTTP/2: frames for which the server does something.
    'resets' => fn() => [$h2, streams(fn($id) => request($id, '/wait') . frame(RST_STREAM, 0, $id, pack('N', 8))), true],
    'resets by the server' => fn() => [$h2, streams(fn($id) => request($id, '/wait') . frame(WINDOW_UPDATE, 0, $id, pack('N', 0))), true],
    'resets of uploads' => fn() => [$h2, streams(fn($id) => upload($id, '/body') . frame(DATA, 0, $id, 'x') . frame(RST_STREAM, 0, $id, pack('N', 8))), true],
    'windows beyond the limit' => fn() => [$h2, streams(fn($id) => request($id, '/wait') . frame(WINDOW_UPDATE, 0, $id, pack('N', $open))), true],
    'a window beyond the limit' => fn() => [$h2, repeated(frame(WINDOW_UPDATE, 0, 0, pack('N', $open))), true],
    'streams beyond the limit' => fn() => [$h2, streams(fn($id) => request($id, '/wait')), true],
    'heads without end' => fn() => [$h2 . frame(HEADERS, END_STREAM, 1, head('/wait')), repeated(frame(CONTINUATION, 0, 1, line('a', 'b'))), true],
    'empty continuations' => fn() => [$h2 . frame(HEADERS, END_STREAM, 1, head('/wait')), repeated(frame(CONTINUATION, 0, 1)), true],
    'pings' => fn() => [$h2, repeated(frame(PING, 0, 0, '12345678')), true],
    'pings unread' => fn() => [$h2, repeated(frame(PING, 0, 0, '12345678')), false],
    'settings' => fn() => [$h2, repeated(settings([1 => 0, 4 => 65535])), true],
    'settings unread' => fn() => [$h2, repeated(settings()), false],
    'windows of all streams' => fn() => [$h2 . (streams(fn($id) => request($id, '/wait'), 128))(), repeated(settings([4 => 0]) . settings([4 => 65535])), true],
    // Frames for which it does nothing.
    'unknown frames' => fn() => [$h2, repeated(frame(0xbe, 0, 0)), true],
    'priorities' => fn() => [$h2, repeated(frame(PRIORITY, 0, 1, pack('NC', 3, 1)) . frame(PRIORITY, 0, 3, pack('NC', 1, 1))), true],
    'streams that depend on themselves' => fn() => [$h2, streams(fn($id) => frame(PRIORITY, 0, $id, pack('NC', $id, 1))), true],
    'small windows' => fn() => [$h2, repeated(frame(WINDOW_UPDATE, 0, 0, pack('N', 1))), true],
    'empty data' => fn() => [$h2 . upload(1, '/body'), repeated(frame(DATA, 0, 1)), true],
    'empty data of a stream that is over' => fn() => [$h2 . upload(1, '/hello'), repeated(frame(DATA, 0, 1)), true],
    'padding' => fn() => [$h2 . upload(1, '/body'), repeated(frame(DATA, 8, 1, "\xff" . str_repeat("\0", 255))), true],
    'small data' => fn() => [$h2 . upload(1, '/wait'), repeated(frame(DATA, 0, 1, 'x')), true],
    // Heads that are larger than their bytes.
    'a large line again and again' => fn() => [$h2 . frame(HEADERS, END_HEADERS | END_STREAM, 1, head('/hello', line('a', str_repeat('b', 4000), true))),
        streams(fn($id) => request($id + 2, '/wait', str_repeat("\xbe", 16000)), 1), true],
    'many small lines' => fn() => [$h2, streams(fn($id) => request($id, '/wait', str_repeat("\x00\x01a\x00", 480)), 128, 128), true],
    'a large table' => fn() => [PREFACE . settings([1 => $open]), answered(fn($id) => request($id, "/headers?$id")), true],
    'long trailers' => fn() => [$h2, streams(fn($id) => upload($id, '/body') . frame(HEADERS, END_HEADERS | END_STREAM, $id, line('a', str_repeat('b', 8000)) . line('b', str_repeat('b', 8320))), 1), true],
    'trailers without end' => fn() => [$h2 . upload(1, '/body') . frame(HEADERS, END_STREAM, 1, line('a', 'b')), repeated(frame(CONTINUATION, 0, 1, line('a', str_repeat('b', 1000)))), true],
    // Responses that are not taken, and bodies that do not come.
    'downloads with closed windows' => fn() => [PREFACE . settings([4 => 0]), streams(fn($id) => request($id, '/download'), 128, 128), true],
    'whole bodies with closed windows' => fn() => [PREFACE . settings([4 => 0]), streams(fn($id) => request($id, '/large'), 128, 128), true],
    'downloads unread' => fn() => [$wide, streams(fn($id) => request($id, '/download'), 128, 128), false],
    'whole bodies unread' => fn() => [$wide, streams(fn($id) => request($id, '/large'), 128, 128), false],
    'uploads that do not come' => fn() => [$h2, streams(fn($id) => upload($id, '/body', line('content-length', '1000000')), 128, 128), true],
    'refused uploads that do not come' => fn() => [$h2, streams(fn($id) => upload($id, '/body', line('content-length', '9999999999'))), true],
    // HTTP/1.1.
    'pipelined requests unread' => fn() => ['', repeated($http1('GET /hello')), false],
    'pipelined large responses unread' => fn() => ['', repeated($http1('GET /large')), false],
    'pipelined requests' => fn() => ['', repeated($http1('GET /hello')), true],
    'empty lines' => fn() => ['', repeated("\r\n"), true],
    'one long line' => fn() => ["GET /", repeated('x'), true],
    'headers without end' => fn() => ["GET / HTTP/1.1\r\nHost: x\r\n", repeated("a: b\r\n"), true],
    'small chunks' => fn() => [$post, repeated("1\r\nx\r\n"), true],
    'small chunks that nobody reads' => fn() => [$http1('POST /wait', "Transfer-Encoding: chunked\r\n"), repeated("1\r\nx\r\n"), true],
    'chunks with extensions' => fn() => [$post, repeated("1;" . str_repeat('e', 100) . "\r\nx\r\n"), true],
    'an extension without end' => fn() => ["{$post}1;", repeated('e'), true],
    'long size of a chunk' => fn() => [$post, repeated('0'), true],
    'long trailers of chunks' => fn() => ["{$post}0\r\n", repeated("a: b\r\n"), true],
    // WebSockets.
    'fragments without end' => fn() => [$upgrade . $message(2, 'x'), repeated($message(0, 'x')), true],
    'websocket pings' => fn() => [$upgrade, repeated($message(0x89, 'ping')), true],
    'websocket pings unread' => fn() => [$upgrade, repeated($message(0x89, 'ping')), false],
    'websocket pongs' => fn() => [$upgrade, repeated($message(0x8a, '')), true],
    'websocket messages unread' => fn() => [$upgrade, repeated($message(0x82, str_repeat('x', 100))), false],
    'compressed messages' => fn() => [$upgrade, repeated($message(0xc2, 'x')), true],
];
if ($kind === 'list') exit(implode("\n", array_keys($kinds)) . "\n");
[$waiting, $next, $reads] = $kinds[$kind]();
$found = ['sent' => 0, 'closed' => false, 'received' => 0];

/** Looks at what has come: what an HTTP/2 server has sent, or the status of HTTP/1.1, or with which code a WebSocket was closed. */
$seen = '';
$look = function (string $bytes) use (&$seen, &$found, &$is_h2): void {
    $found['received'] += strlen($bytes);
    if (!$is_h2) {
        $seen .= $bytes;
        if (preg_match('~^HTTP/1\.1 (\d+)~', $seen, $parts)) $found['status'] ??= (int) $parts[1];
        // A close frame is the last one, and shorter than 126 bytes.
        if (($found['status'] ?? 0) === 101 && preg_match('~\x88[\x02-\x7d](..)[^\x88]*$~s', $seen, $parts)) $found['status'] = unpack('n', $parts[1])[1];
        $seen = substr($seen, -4096);
        return;
    }
    for ($seen .= $bytes, $at = 0; strlen($seen) >= $at + 9; $at += 9 + $length) {
        $length = unpack('N', "\0" . substr($seen, $at, 3))[1];
        if (strlen($seen) < $at + 9 + $length) break;
        match (ord($seen[$at + 3])) {
            GOAWAY => $found['goaway'] = unpack('N', $seen, $at + 13)[1],
            RST_STREAM => $found['resets'] = ($found['resets'] ?? 0) + 1,
            HEADERS => $found['responses'] = ($found['responses'] ?? 0) + 1,
            default => null,
        };
    }
    $seen = substr($seen, $at);
};
$is_h2 = str_starts_with($waiting, PREFACE);
$socket = stream_socket_client("tcp://$address");
stream_set_blocking($socket, false);
stream_set_blocking(STDIN, false);
stream_set_read_buffer($socket, 0);
$is_there = false;
while (true) {
    if ($waiting === '' && !$found['closed']) $waiting = $next();
    $read = $found['closed'] ? [STDIN] : ($reads ? [$socket, STDIN] : [STDIN]);
    $write = $waiting === '' || $found['closed'] ? [] : [$socket];
    $except = [];
    $ready = stream_select($read, $write, $except, $is_there ? null : 0, $is_there ? null : 500_000);
    if (!$is_there && ($ready === 0 || $found['closed'] || $found['sent'] > 8 << 20)) {
        $is_there = true;
        echo "there\n";
    }
    if (in_array(STDIN, $read, true)) break;
    if (in_array($socket, $read, true)) {
        $piece = @fread($socket, 1 << 20);
        if ($piece === false || $piece === '' && feof($socket)) {
            $found['closed'] = true;
        } elseif ($piece !== '') {
            $look($piece);
        }
    }
    if ($write) {
        $count = @fwrite($socket, $waiting);
        if ($count === false) {
            $found['closed'] = true;
            // What has come before is still there.
            while ($reads && ($piece = (string) @fread($socket, 1 << 20)) !== '') $look($piece);
        } else {
            $found['sent'] += $count;
            $waiting = substr($waiting, $count);
        }
    }
}
fclose($socket);
echo json_encode($found, JSON_INVALID_UTF8_SUBSTITUTE), "\n";
