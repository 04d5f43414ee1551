<?php
/*
 * What packages/psr15 makes of requests, and how it sends responses: for the runner of applications in worker mode (workers.php), which
 * compares an application on Slim, too.
 */

declare(strict_types=1);

namespace Applications;

/** Asks the server of worker-mode/bodies.php. */
function psr15_bodies(): string
{
    $command = [PHP_BINARY, '-n', '-d', 'extension=' . EXTENSION];
    foreach (settings('psr15_bodies') as $key => $value) {
        array_push($command, '-d', is_int($key) ? $value : "$key=$value");
    }
    $server = new Program([...$command, __DIR__ . '/worker-mode/bodies.php'], WORK, []);
    \Sapi\until("it listens: {$server->said()}", static fn () => str_contains($server->said(), "\n") || !$server->isRunning());
    $address = strstr($server->said(), "\n", true) ?: throw new Wrong($server->said());
    // Returns the head without what differs by the moment, and the body.
    $ask = static function (string $path, array $options = []) use ($address): array {
        $head = '';
        $curl = curl_init("http://$address$path");
        curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 60, CURLOPT_HEADERFUNCTION => static function ($curl, string $line) use (&$head): int {
            $head .= preg_match('/^(date|connection|x-powered-by|\s*$)/i', $line) ? '' : rtrim($line) . "\n";
            return strlen($line);
        }]);
        curl_setopt_array($curl, $options);
        $body = curl_exec($curl);
        return [$head, $body === false ? curl_error($curl) : $body];
    };
    check('headers', $ask('/headers'), ["HTTP/1.1 299 Fine\nx-a: 1\nx-a: 2\nset-cookie: a=1\nset-cookie: b=2\nx-b: 3\ncontent-length: 4\n", 'body']);
    check('a location', $ask('/moved'), ["HTTP/1.1 201 Created\nlocation: /there\ncontent-length: 0\n", '']);
    check('no type', $ask('/plain'), ["HTTP/1.1 200 OK\ncontent-length: 7\n", 'no type']);
    check('no body', $ask('/empty'), ["HTTP/1.1 204 No Content\ncontent-type: text/plain;charset=UTF-8\n", '']);
    check('a large body', $ask('/large'), ["HTTP/1.1 200 OK\ncontent-length: 1000000\n", str_repeat('0123456789', 100_000)]);
    check('the head of a large body', $ask('/large', [CURLOPT_NOBODY => true]), ["HTTP/1.1 200 OK\ncontent-length: 1000000\n", '']);
    check('an unknown path', substr($ask('/nothing')[0], 0, 12), 'HTTP/1.1 500');

    // A body that comes in pieces is sent in pieces: the second one is not made before the first one is here.
    posix_mkfifo($fifo = WORK . '/fifo', 0600);
    $pieces = [];
    $ask('/pipe?wait=' . urlencode($fifo), [CURLOPT_WRITEFUNCTION => static function ($curl, string $piece) use (&$pieces, $fifo): int {
        $pieces[] = $piece;
        count($pieces) === 1 && file_put_contents($fifo, "go on\n");
        return strlen($piece);
    }]);
    check('pieces', $pieces, ["one\n", "two\n"]);

    // Of a body that does not come the client sees that it is not whole.
    [$head, $error] = $ask('/late');
    check('a body that is late', [substr($head, 0, 12), $error !== 'begin'], ['HTTP/1.1 200', true], $error);

    // A client that leaves ends the body, and not the instance.
    $before = (int) $ask('/count')[1];
    $stream = stream_socket_client("tcp://$address");
    fwrite($stream, "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
    str_contains(fread($stream, 15), '200') || throw new Wrong('nothing endless');
    fclose($stream);
    check('the same instance', $ask('/count')[1], $before + 2 . ' the client has left');

    // The request. Names of files are nested.
    $body = '';
    foreach (['f[a][]' => 'one', 'f[a][x]' => 'two', 'f[b][c]' => 'three', 'g' => ''] as $name => $content) {
        $body .= "--limit\r\nContent-Disposition: form-data; name=\"$name\"; filename=\"" . ($content === '' ? '' : "$content.txt") . "\"\r\nContent-Type: text/x-test\r\n\r\n$content\r\n";
    }
    $body .= "--limit\r\nContent-Disposition: form-data; name=\"field[x]\"\r\n\r\nvalue\r\n--limit--\r\n";
    $headers = ['X-Test: t', 'Host: example.test:81', 'Cookie: c=d'];
    [, $found] = $ask('/request?q[]=1&q[]=2', [CURLOPT_POSTFIELDS => $body, CURLOPT_HTTPHEADER => ['Content-Type: multipart/form-data; boundary=limit', ...$headers]]);
    check('a form', json_decode($found, true), ['POST', 'http://example.test:81/request?q%5B%5D=1&q%5B%5D=2', '1.1', ['t'], ['q' => ['1', '2']], ['c' => 'd'], ['field' => ['x' => 'value']], '',
        ['f' => ['a' => [['one.txt', 'text/x-test', 3, 0, 'one'], 'x' => ['two.txt', 'text/x-test', 3, 0, 'two']], 'b' => ['c' => ['three.txt', 'text/x-test', 5, 0, 'three']]],
            'g' => ['', '', 0, UPLOAD_ERR_NO_FILE, null]]], $found);
    [, $found] = $ask('/request', [CURLOPT_CUSTOMREQUEST => 'PUT', CURLOPT_POSTFIELDS => 'a=b', CURLOPT_HTTPHEADER => ['Content-Type: application/x-www-form-urlencoded', ...$headers]]);
    check('what is no form', json_decode($found, true), ['PUT', 'http://example.test:81/request', '1.1', ['t'], [], ['c' => 'd'], null, 'a=b', []], $found);
    $server->signal(SIGTERM);
    check('the status', $server->status(), 0, $server->said());
    return 'requests, responses, pieces, a client that leaves';
}
