<?php
/*
 * Many clients at once, for tests/server/strain: strain-client.php ADDRESS WHAT [ARGUMENT...]. Prints what it has found as JSON.
 */

use function Async\{await, awaitAll, delay, spawn};

[, $address, $what] = $argv;
$arguments = array_map(intval(...), array_slice($argv, 3));

function connect(): mixed
{
    return stream_socket_client('tcp://' . $GLOBALS['address'], $code, $error, 600) ?: throw new RuntimeException($error);
}

/** @return array{string, float} the answer, and the milliseconds until it was complete */
function ask(string $request): array
{
    $since = hrtime(true);
    $stream = connect();
    stream_set_timeout($stream, 600);
    fwrite($stream, $request);
    $answer = (string) stream_get_contents($stream);
    fclose($stream);
    return [$answer, (hrtime(true) - $since) / 1e6];
}

function request(string $path): string
{
    return "GET $path HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
}

/** @param list<float> $of */
function quantile(array $of, float $which): float
{
    sort($of);
    return round($of[(int) min(count($of) - 1, $which * count($of))] ?? 0, 2);
}

$found = match ($what) {
    // Requests of tests/server/canaries.php: is each answer made of its own number?
    'canaries' => (function (int $requests, int $first): array {
        $wrong = [];
        $tasks = [];
        for ($n = $first; $n < $first + $requests; $n++) {
            $tasks[] = spawn(function () use ($n, &$wrong): void {
                [$answer] = ask("POST /?n=$n HTTP/1.1\r\nHost: x\r\nX-N: $n\r\nCookie: n=$n\r\nAuthorization: Basic " . base64_encode("u$n:p$n")
                    . "\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: " . strlen("p=$n") . "\r\nConnection: close\r\n\r\np=$n");
                [$head, $body] = explode("\r\n\r\n", $answer, 2) + ['', ''];
                preg_match_all('/\d+/', $body, $numbers);
                $fine = str_starts_with($head, 'HTTP/1.1 ' . 200 + $n % 4 . ' ') && preg_match("~\r\nx-own: $n\r\n~", $head) && preg_match("~\r\ncontent-type: text/x-{$n}[;\r]~", $head)
                    && preg_match_all('/^set-cookie: c/m', $head) === 1 && str_contains($head, "set-cookie: c$n=$n\r\n")
                    && preg_match('/PHPSESSID=([^;]+)/', $head, $id) === (int) ($n % 3 === 0) && ($id[1] ?? "canary$n") === "canary$n"
                    && count($numbers[0]) > 15 && array_unique($numbers[0]) === ["$n"] && preg_match('/^[\[(\])\d]*$/', $body);
                $fine || count($wrong) > 3 || $wrong[] = "$n: $answer";
            });
        }
        awaitAll($tasks);
        return $wrong;
    })(...$arguments),
    // Clients that leave while their handler waits: the time from then on until the handler is cancelled.
    'leave' => (function (int $clients): array {
        $latencies = [];
        for ($left = $clients; $left > 0; $left -= 50) {
            $streams = [];
            for ($i = 0; $i < min(50, $left); $i++) {
                fwrite($streams[] = connect(), "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
            }
            $stats = fn() => json_decode(explode("\r\n\r\n", ask(request('/stats'))[0])[1], true);
            while ($stats()['running'] < count($streams) + 1) delay(1);
            $closed = [];
            foreach ($streams as $stream) {
                $closed[] = hrtime(true);
                fclose($stream);
                delay(1);
            }
            while ($stats()['running'] > 1) delay(1);
            $waited = json_decode(explode("\r\n\r\n", ask(request('/waited'))[0])[1], true);
            foreach ($waited as $i => $at) $latencies[] = ($at - $closed[$i]) / 1e6;
        }
        return ['cancelled' => count($latencies), 'median' => quantile($latencies, 0.5), 'p99' => quantile($latencies, 0.99)];
    })(...$arguments),
    // Requests at a rate, whether or not they are answered.
    'rate' => (function (int $rate, int $seconds): array {
        $tasks = [];
        $answered = $refused = $other = [];
        $since = hrtime(true);
        for ($i = 0; $i < $rate * $seconds; $i++) {
            $due = $since + (int) ($i * 1e9 / $rate);
            while (hrtime(true) < $due) delay(1);
            $tasks[] = spawn(function () use (&$answered, &$refused, &$other): void {
                [$answer, $time] = ask(request('/work'));
                match (substr($answer, 9, 3)) { '200' => $answered[] = $time, '503' => $refused[] = $time, default => $other[] = $answer };
            });
        }
        $took = (hrtime(true) - $since) / 1e9;
        awaitAll($tasks);
        return ['answered' => count($answered), 'p99' => quantile($answered, 0.99), 'refused' => count($refused), 'median of these' => quantile($refused, 0.5),
            'p99 of these' => quantile($refused, 0.99), 'other' => array_slice($other, 0, 3), 'seconds' => round($took, 2), 'until the end' => round((hrtime(true) - $since) / 1e9, 2)];
    })(...$arguments),
    // Clients that send heads and bodies byte by byte, one a second or so, until a line comes. Prints a line when all are there.
    'slow' => (function (int $heads, int $bodies): array {
        $over = false;
        $closed = 0;
        $tasks = [];
        for ($i = 0; $i < $heads + $bodies; $i++) {
            $bytes = $i < $heads ? request('/hello?' . str_repeat('x', 10000)) : "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" . str_repeat('x', 100000);
            $head = $i < $heads ? 5 : strpos($bytes, 'xxx');
            $stream = connect();
            fwrite($stream, substr($bytes, 0, $head));
            $tasks[] = spawn(function () use ($stream, $bytes, $head, &$over, &$closed): void {
                for ($at = $head; !$over && @fwrite($stream, $bytes[$at]) === 1; $at++) delay(mt_rand(500, 1500));
                $over || $closed++;
                fclose($stream);
            });
        }
        $stats = fn() => json_decode(explode("\r\n\r\n", ask(request('/stats'))[0])[1], true);
        while ($stats()['connections'] < $heads + $bodies) delay(10);
        echo "there\n";
        fgets(STDIN);
        $running = $stats()['running'];
        $over = true;
        awaitAll($tasks);
        while ($stats()['connections'] > 1) delay(10);
        return ['closed' => $closed, 'running' => $running, 'after' => $stats()['running']];
    })(...$arguments),
    // Requests one after the other.
    'hello' => (function (int $requests): array {
        $times = [];
        for ($i = 0; $i < $requests; $i++) {
            [$answer, $time] = ask(request('/hello'));
            str_ends_with($answer, 'Hello') || throw new RuntimeException("not answered: $answer");
            $times[] = $time;
        }
        return ['p99' => quantile($times, 0.99)];
    })(...$arguments),
};
echo json_encode($found, JSON_UNESCAPED_SLASHES), "\n";
