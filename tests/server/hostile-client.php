<?php
/*
 * Hostile clients for tests/server/strain, which know the right answers:
 *
 *   hostile-client.php ADDRESS SEED AT-ONCE SECONDS|COUNTx [FROM]
 *
 * Each connection is named, sends some requests (whole ones, ones that must be refused, ones that are not certain to be either,
 * ones that end early, and ones whose bytes were changed at random), in pieces that end anywhere, and ends as clients do or not.
 * What a request asks for is in all of its parts, so an answer that is made of another one's bytes is seen. Prints what was wrong,
 * and how often what was done, as JSON. The same seed and numbers of connections are the same bytes.
 */

use function Async\{awaitAll, delay, spawn};

require __DIR__ . '/hostile.inc';

[, $address, $seed, $at_once, $limit] = $argv;
$first = (int) ($argv[5] ?? 0);

/** One connection: what it sends, and what must be answered. */
final class Case_
{
    public string $bytes = '';
    /** @var list<array{string, ?array}> a kind, and the answer to expect: ok, maybe, refused, none */
    public array $expected = [];
    public bool $ends = false;
    public readonly string $id;
    public string $what = '';

    public function __construct(public readonly Random\Randomizer $random)
    {
        $this->id = Hostile\id(bin2hex($random->getBytes(4)));
    }

    public function chance(int $of): bool
    {
        return $this->random->getInt(1, $of) === 1;
    }

    public function one(array $of): mixed
    {
        return $of[$this->random->getInt(0, count($of) - 1)];
    }

    public function number(int $from, int $to): int
    {
        return $this->random->getInt($from, $to);
    }

    /** What a request is about. */
    private function token(): string
    {
        return "$this->id-" . count($this->expected);
    }

    /** A request that must be answered. `coding`: none, length, chunked; `$ends`: it is the last one. */
    public function whole(bool $ends = false, ?string $coding = null, array $more = [], string $version = '1.1'): void
    {
        $token = $this->token();
        $coding ??= $this->one(['none', 'length', 'chunked']);
        $method = $coding === 'none' ? $this->one(['GET', 'GET', 'HEAD', 'DELETE', 'get', "!#$%&'*+-.^_`|~"]) : $this->one(['POST', 'PUT', 'PATCH']);
        $target = "/$token/" . $this->one(['body', 'body', 'pieces', ...($coding === 'none' ? ['unread'] : [])]);
        $eol = "\r\n";
        $headers = ['x-token' => $token];
        for ($i = $this->number(0, 3); $i > 0; $i--) {
            $headers["x-$i"] = $this->one(["$token $i", str_repeat("$token,", $this->number(1, 300)), "\xe9\xff $token", '', "\"$token\"", "GET /poison HTTP/1.1", 'a: b']);
        }
        $lines = ["Host: test"];
        foreach ($headers as $name => $value) {
            $name = $this->chance(3) ? strtoupper($name) : $name;
            $lines[] = "$name:" . $this->one(['', ' ', "\t", '  ']) . $value . $this->one(['', '', ' ', "\t "]);
        }
        $body = '';
        if ($coding !== 'none') {
            $body = $this->one(['', 'x', str_repeat("$token\n", $this->number(1, 2000)), "GET /poison HTTP/1.1\r\nHost: test\r\n\r\n", "0\r\n\r\nGET /poison HTTP/1.1\r\nHost: test\r\n\r\n"]);
        }
        $sent = $body;
        if ($coding === 'length') {
            $lines[] = 'Content-Length: ' . strlen($body);
        } elseif ($coding === 'chunked') {
            $lines[] = $this->one(['Transfer-Encoding: chunked', 'transfer-encoding:Chunked', "TRANSFER-ENCODING: \t chunked \t", 'Transfer-Encoding: , chunked']);
            $sent = $this->chunks($body, $token);
        }
        if ($coding !== 'none' && $this->chance(6)) $lines[] = 'Expect: 100-continue';
        if ($ends) $lines[] = $this->one(['Connection: close', 'connection: CLOSE', 'Connection: x, close']);
        $lines = [...$this->random->shuffleArray($lines), ...$more];
        $start = $this->chance(8) ? "\r\n" : '';
        $this->bytes .= "$start$method $target HTTP/$version$eol" . implode($eol, $lines) . "$eol$eol$sent";
        ksort($headers);
        $read = str_ends_with($target, '/unread') ? null : $body;
        $this->expected[] = ['ok', ['method' => $method, 'target' => $target, 'headers' => array_map(fn($v) => bin2hex(trim($v, " \t")), $headers), 'body' => $read === null ? null : sha1($read)]];
        $this->ends = $this->ends || $ends;
    }

    private function chunks(string $body, string $token): string
    {
        $sent = '';
        for ($at = 0; $at < strlen($body); $at += strlen($piece)) {
            $piece = substr($body, $at, $this->chance(4) ? 1 : $this->number(1, 5000));
            $size = dechex(strlen($piece));
            $size = $this->one([$size, strtoupper($size), "000$size"]);
            $sent .= $size . $this->one(['', '', ';a=b', ";$token=\"a;b\"", '; x', ';' . str_repeat('e', 500), ' ']) . "\r\n$piece\r\n";
        }
        return $sent . $this->one(['0', '00', '0;last']) . "\r\n" . $this->one(['', '', "X-Token: poison\r\n", "Content-Length: 7\r\nHost: poison\r\n", "a: b\r\nc:\r\n"]) . "\r\n";
    }

    /** What must not reach a handler, and nothing behind it. */
    public function refused(): void
    {
        $token = $this->token();
        $head = fn(string $lines, string $start = '') => ($start ?: "POST /poison/$token HTTP/1.1") . "\r\nHost: test\r\nX-Token: $token\r\n$lines\r\n";
        $five = "5\r\nabcde\r\n0\r\n\r\n";
        $this->bytes .= match ($this->number(0, 4)) {
            0 => $head('', $this->one(['GET HTTP/1.1', 'GET /poison HTTP/1', 'GET /poison HTTP/2.0', 'GET /poison HTTP/1.1 x', 'GET /poi son HTTP/1.1', "GET\t/poison\tHTTP/1.1", "GET /poison\0 HTTP/1.1",
                "GET /poison\x7f HTTP/1.1", 'GET poison HTTP/1.1', 'G@T /poison HTTP/1.1', ' GET /poison HTTP/1.1', 'GET  /poison HTTP/1.1', 'GET http:///poison HTTP/1.1', 'CONNECT poison:1 HTTP/1.1', 'GET /poison', "GET /poison HTTP/1.1\rX: y"])),
            1 => $head('Content-Length: ' . $this->one(['abc', '+5', '-5', '5_0', '0x5', '5 5', '', '5,6', '5, 6', "5\0", '5;', '5.0', '99999999999999999999', '18446744073709551617', "5\r\nContent-Length: 6", "6\r\nContent-Length: 5", "5\x0b"]) . "\r\n") . 'abcde',
            2 => $head('Transfer-Encoding: ' . $this->one(['', 'identity', 'gzip', 'gzip, chunked', 'xchunked', 'chunkedx', 'chunked, gzip', "chunked\x0b", "chunked\x0c", "chunked\0", 'chunked;q=1', '"chunked"', 'chunked, chunked', "chunked\r\nTransfer-Encoding: identity",
                "identity\r\nTransfer-Encoding: chunked", "chunked\r\n ", "\r\n chunked", "chu\r\n nked", "chunked\xa0", "\xef\xbb\xbfchunked"]) . "\r\n") . $five,
            3 => $head($this->one(["A : b\r\n", ": b\r\n", "A\r\n", "A b: c\r\n", "A\t: b\r\n", "\xe9: b\r\n", "A: b\r\n c\r\n", "A: b\r\n\tc\r\n", "A: b\rc\r\n", "A: b\0\r\n", "A: b\x01\r\n", "A: b\x7f\r\n", "A\0: b\r\n", "Host: test\r\n", "Host: other\r\n",
                "Content-Length : 5\r\n", "Transfer-Encoding : chunked\r\n", "Transfer\rEncoding: chunked\r\n", "Transfer-Encoding\0: chunked\r\n"])) . $five,
            4 => "POST /poison HTTP/1.1\r\n" . $this->one(["Host:\r\n", "Host: a@b\r\n", "Host: a, b\r\n", "Host: a\\b\r\n", '', " Host: test\r\n", "Host: test\r\n\tX: y\r\n"]) . "\r\n",
        };
        $this->expected[] = ['refused', null];
        $this->poison();
    }

    /** A body that is malformed: its handler must not take it for a whole one, and nothing behind it is a request. */
    public function broken(): void
    {
        $token = $this->token();
        $size = dechex($length = $this->number(5, 200));
        $data = str_pad($token, $length, 'x');
        $this->bytes .= "POST /$token/" . $this->one(['body', 'pieces', 'unread']) . " HTTP/1.1\r\nHost: test\r\nX-Token: $token\r\nTransfer-Encoding: chunked\r\n\r\n" . $this->one([
            "0x$size\r\n$data\r\n0\r\n\r\n", " $size\r\n$data\r\n0\r\n\r\n", "$size\r\n{$data}0\r\n\r\n", "$size\r\n{$data}yz\r\n0\r\n\r\n", "-$size\r\n$data\r\n0\r\n\r\n", "$size;a\rb\r\n$data\r\n0\r\n\r\n",
            "$size\n$data\n0\n\n", "$size\r\n$data\n0\r\n\r\n", "\r\n$data\r\n0\r\n\r\n", "g\r\n$data\r\n0\r\n\r\n", "10000000000000005\r\n$data\r\n0\r\n\r\n", "fffffffffffffffff\r\n$data\r\n0\r\n\r\n", "$size\r\n$data\r\n0\r\n a: b\r\n\r\n",
            "$size\r\n$data\r\n0\r\na b: c\r\n\r\n", "$size\r\n$data\r\n0\r\n: c\r\n\r\n", "$size;a\nb\r\n$data\r\n0\r\n\r\n", "$size;" . str_repeat('e', 70_000) . "\r\n$data\r\n0\r\n\r\n", "$size\r\n$data\r\n0\r\n" . str_repeat("t: u\r\n", 20_000) . "\r\n",
            "$size\r\n$data\r\n0\r\na: b\rc\r\n\r\n", "$size\r\n$data\r\n0\r\na: b\0\r\n\r\n", "$size\0\r\n$data\r\n0\r\n\r\n",
        ]);
        $this->expected[] = ['broken', null];
        $this->poison();
    }

    /** What may be answered or refused; in any case nothing behind it is a request. */
    public function uncertain(): void
    {
        $token = $this->token();
        [$lines, $body] = $this->one([
            ["Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"], ["Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", "0\r\n\r\n"],
            ["Content-Length: 5\r\nConnection: close\r\n", 'abcde'], ["Transfer-Encoding: chunked\r\nContent-Length: " . $this->one(['5', 'x', '-1', '5, 6']) . "\r\n", "5\r\nabcde\r\n0\r\n\r\n"],
        ]);
        $this->bytes .= "POST /$token/body HTTP/1.1\r\nHost: test\r\nX-Token: $token\r\n$lines\r\n$body";
        $this->expected[] = ['maybe', ['target' => "/$token/body"]];
        $this->poison();
    }

    /** A request that is not complete when the client goes. */
    public function cut(): void
    {
        $token = $this->token();
        $whole = "POST /$token/body HTTP/1.1\r\nHost: test\r\nX-Token: $token\r\n" . ($this->chance(2)
            ? "Content-Length: 300\r\n\r\n" . str_pad($token, 300, 'x')
            : "Transfer-Encoding: chunked\r\n\r\n96\r\n" . str_pad($token, 150, 'x') . "\r\n0\r\nA: b\r\n\r\n");
        $this->bytes .= substr($whole, 0, $this->number(1, strlen($whole) - 1));
        $this->expected[] = ['none', null];
        $this->ends = true;
    }

    /** Follows what closes the connection. */
    private function poison(): void
    {
        $this->bytes .= str_repeat("GET /poison HTTP/1.1\r\nHost: test\r\nX-Token: poison\r\n\r\n", $this->number(0, 3));
        $this->ends = true;
    }

    /** Changes some bytes. What that means is not known, but of what other connections send nothing may be seen. */
    public function mutate(): void
    {
        $this->bytes = str_replace('poison', 'potion', $this->bytes); // which may become a request
        for ($i = $this->number(1, 6); $i > 0; $i--) {
            $at = $this->number(0, max(0, strlen($this->bytes) - 1));
            $length = $this->chance(2) ? 1 : $this->number(1, 100);
            $this->bytes = match ($this->number(0, 4)) {
                0 => substr_replace($this->bytes, $this->one(["\0", "\r", "\n", "\r\n", "\r\n\r\n", ':', ',', ';', ' ', "\t", "\x80", '0', 'f', '-', '%', '/']), $at, $this->number(0, 1)),
                1 => substr_replace($this->bytes, '', $at, $length),
                2 => substr_replace($this->bytes, substr($this->bytes, $this->number(0, strlen($this->bytes)), $length), $at, 0),
                3 => substr_replace($this->bytes, $this->random->getBytes(1), $at, 1),
                4 => substr_replace($this->bytes, $this->one(["Transfer-Encoding: chunked\r\n", "Content-Length: 3\r\n", "\r\n ", "0\r\n\r\n", "Connection: close\r\n", "Expect: 100-continue\r\n", "Upgrade: websocket\r\nConnection: upgrade\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]), $at, 0),
            };
        }
        $this->expected = [['anything', null]];
    }
}

/** @return array{int, array<string, string>, ?string, string} the status, headers, body, and the rest; null if it is not complete */
function response(string $bytes, bool $is_head): ?array
{
    $end = strpos($bytes, "\r\n\r\n");
    if ($end === false) return null;
    $lines = explode("\r\n", substr($bytes, 0, $end));
    $rest = substr($bytes, $end + 4);
    preg_match('~^HTTP/1\.[01] (\d{3}) ~', $line = array_shift($lines), $status) || throw new Exception("no status: $line");
    $headers = [];
    foreach ($lines as $line) {
        preg_match('/^([\w-]+): ?(.*)$/s', $line, $parts) || throw new Exception("no header: $line");
        isset($headers[$parts[1]]) && throw new Exception("twice: $line");
        $headers[$parts[1]] = $parts[2];
    }
    $status = (int) $status[1];
    if ($status < 200) return $status === 100 && $headers === [] ? [100, [], '', $rest] : throw new Exception("status $status");
    if ($is_head || $status === 204) return [$status, $headers, null, $rest];
    if (isset($headers['content-length'])) {
        $length = (int) $headers['content-length'];
        return strlen($rest) < $length ? null : [$status, $headers, substr($rest, 0, $length), substr($rest, $length)];
    }
    ($headers['transfer-encoding'] ?? '') === 'chunked' || throw new Exception('no length');
    $body = '';
    while (preg_match('/^([0-9a-f]+)\r\n/i', $rest, $size)) {
        $length = hexdec($size[1]);
        if (strlen($rest) < strlen($size[0]) + $length + 2) return null;
        $body .= substr($rest, strlen($size[0]), $length);
        $rest = substr($rest, strlen($size[0]) + $length + 2);
        if ($length === 0) return [$status, $headers, $body, $rest];
    }
    return null;
}

/** Compares what has come with what was expected. `$is_all`: the client has not gone before. */
function check(Case_ $case, string $got, bool $is_all): void
{
    foreach (Hostile\ids($got) as $id) {
        $id === $case->id || throw new Exception("bytes of $id");
    }
    foreach ($case->expected as [$kind, $about]) {
        do {
            $response = response($got, ($about['method'] ?? '') === 'HEAD');
            if ($response !== null) $got = $response[3];
        } while ($response !== null && $response[0] === 100);
        if ($response === null) {
            if (!$is_all || in_array($kind, ['none', 'refused', 'broken', 'maybe', 'anything'], true)) break;
            throw new Exception("no answer to $about[target]: " . substr($got, 0, 100));
        }
        [$status, , $body] = $response;
        switch ($kind) {
            case 'ok':
                $status === 200 || throw new Exception("$status for $about[target]");
                if ($body !== null) {
                    $found = json_decode($body, true);
                    if (array_diff_key($found, ['ids' => 0]) != $about) throw new Exception('expected ' . json_encode($about) . ", found $body");
                }
                break;
            case 'maybe':
                $status === 200 || $status >= 400 || throw new Exception("$status");
                $status !== 200 || json_decode($body, true)['target'] === $about['target'] || throw new Exception($body);
                break;
            case 'broken': // a handler that has not asked for the body may have answered
                $status >= 400 || json_decode($body, true)['body'] === null || throw new Exception("a broken body is taken for whole: $body");
                break;
            case 'refused':
                $status >= 400 || throw new Exception("$status, not refused: $body");
                break;
            case 'none':
                $status >= 400 || throw new Exception("$status to what is not complete: $body");
                break;
            case 'anything':
                for (; $response !== null; $response = response($got, false)) {
                    $got = $response[3];
                    $response[0] !== 200 || json_decode($response[2], true) !== null || throw new Exception("what is that: $response[2]");
                }
                return;
        }
        if ($kind !== 'ok') break;
    }
    $got === '' || !$is_all || throw new Exception('what is that behind the answers: ' . substr($got, 0, 300));
}

function make(int $number): Case_
{
    global $seed;
    $case = new Case_(new Random\Randomizer(new Random\Engine\Xoshiro256StarStar(hash('sha256', "$seed $number", true))));
    $case->what = $case->one(['whole', 'whole', 'refused', 'refused', 'broken', 'uncertain', 'cut', 'mutated', 'mutated']);
    // What is answered without a body only to HEAD is not found among changed bytes.
    for ($i = $case->number(0, 4); $i > 0; $i--) $case->whole(coding: $case->what === 'mutated' ? $case->one(['length', 'chunked']) : null);
    match ($case->what) {
        'whole' => $case->whole(true),
        'mutated' => $case->whole(true, $case->one(['length', 'chunked'])),
        default => $case->{$case->what}(),
    };
    if ($case->what === 'mutated') $case->mutate();
    return $case;
}

/** Sends a case, and looks at the answers. Returns what was done. */
function run(int $number): string
{
    global $address;
    $case = make($number);
    $how = $case->what === 'cut' ? 'fin' : $case->one(['stays', 'stays', 'stays', 'fin', 'rst', 'slow']);
    $client = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    [$host, $port] = explode(':', $address);
    if ($how === 'slow') socket_set_option($client, SOL_SOCKET, SO_RCVBUF, 2048);
    socket_connect($client, $host, (int) $port) || throw new Exception('cannot connect');
    socket_set_option($client, SOL_TCP, TCP_NODELAY, 1);
    socket_set_option($client, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 40, 'usec' => 0]);
    $bytes = $how === 'rst' ? substr($case->bytes, 0, $case->number(0, strlen($case->bytes))) : $case->bytes;
    $split = $case->one([0, 0, 1, 3, 100, 1000]); // how long a piece is at most; 0: all at once
    $random = $case->random;
    $is_broken = false;
    $writer = spawn(function () use ($client, $bytes, $split, $random, $how, &$is_broken) {
        $pauses = 20;
        for ($at = 0; $at < strlen($bytes); $at += $sent) {
            $length = $split === 0 ? strlen($bytes) : $random->getInt(1, $split === 1 && $at > 300 ? 200 : $split);
            $sent = @socket_send($client, substr($bytes, $at, $length), $length, MSG_NOSIGNAL);
            if ($sent === false) return $is_broken = true;
            if ($split > 0 && $pauses-- > 0) delay($random->getInt(0, 3));
        }
        if ($how === 'fin') @socket_shutdown($client, 1);
    });
    if ($how === 'rst') {
        Async\await($writer);
        delay($random->getInt(0, 3));
        socket_set_option($client, SOL_SOCKET, SO_LINGER, ['l_onoff' => 1, 'l_linger' => 0]);
        socket_close($client);
        return "$case->what, $how";
    }
    if ($case->what === 'mutated' && $how !== 'fin') {
        Async\await($writer);
        @socket_shutdown($client, 1); // otherwise it may wait for the rest of a request
    }
    $got = '';
    $is_reset = false;
    while (true) {
        if ($how === 'slow') delay($random->getInt(0, 2));
        $piece = @socket_read($client, $how === 'slow' ? $random->getInt(1, 400) : 65536);
        if ($piece === false) {
            $code = socket_last_error($client);
            $code === SOCKET_ECONNRESET || throw new Exception("$number ($case->what, $how): " . socket_strerror($code));
            $is_reset = true;
            break;
        }
        if ($piece === '') break;
        $got .= $piece;
    }
    Async\await($writer);
    socket_close($client);
    try {
        // Of a connection that breaks the protocol nothing more is sent than what its client has taken.
        // Who closes his side does not wait for answers. What is refused is so at once, and what is sent to a closed socket resets it.
        check($case, $got, ($how === 'stays' || $how === 'slow' && $case->what === 'whole') && $case->what !== 'mutated' && !($is_reset && $case->what !== 'whole'));
    } catch (Exception $e) {
        throw new Exception("$number ($case->what, $how): {$e->getMessage()}");
    }
    return "$case->what, $how" . ($is_reset ? ', reset' : '');
}

$wrong = $done = [];
$next = $first;
$until = str_ends_with($limit, 'x') ? null : microtime(true) + (float) $limit;
$last = $first + (int) $limit;
$clients = [];
for ($i = 0; $i < (int) $at_once; $i++) {
    $clients[] = spawn(function () use (&$next, &$wrong, &$done, $until, $last) {
        while (count($wrong) < 10 && ($until === null ? $next < $last : microtime(true) < $until)) {
            try {
                $what = run($next++);
                $done[$what] = ($done[$what] ?? 0) + 1;
            } catch (Throwable $e) {
                $wrong[] = substr($e->getMessage(), 0, 1000) . ($e instanceof Error ? " $e" : '');
            }
        }
    });
}
awaitAll($clients);
ksort($done);
echo json_encode(['connections' => $next - $first, 'wrong' => $wrong, 'done' => $done], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
