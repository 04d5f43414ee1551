<?php
/*
 * The clients of examples/supervisor.php: 1,000 at once, of whom some fail, hang or leave. A process with Spindle, too:
 *
 *     php -d extension=FILE supervisor-clients.php PORT ROUND
 */

declare(strict_types=1);

namespace Examples;

use function Async\{await, spawn};

const CLIENTS = 1000;
const LIMIT = 2500; // ms for a request: more than any good one takes, also on a slow machine

// --- the clients -----------------------------------------------------------------------------------------------------

/** @return resource */
function connect(int $port): mixed
{
    $stream = stream_socket_client("tcp://127.0.0.1:$port", $code, $message, 20) ?: throw new \RuntimeException($message);
    stream_set_timeout($stream, 20);
    return $stream;
}

/** @param resource $stream */
function ask(mixed $stream, string $line): string
{
    fwrite($stream, "$line\n");
    return hear($stream);
}

/** @param resource $stream */
function hear(mixed $stream): string
{
    $answer = fgets($stream);
    return $answer === false ? (feof($stream) ? 'the end' : 'nothing') : rtrim($answer, "\n");
}

/** What a client does: of forty, three fail, one hangs, four leave, and the others are content. */
function kind(int $number): string
{
    return match ($number % 40) {
        0, 20 => 'fail',
        1 => 'lose',
        2 => 'hang',
        3 => 'leave while it is served',
        4 => 'leave while it hangs',
        5 => 'leave in the middle of a line',
        6 => 'leave at once',
        default => 'good',
    };
}

/**
 * Talks as one client.
 *
 * @param resource $stream
 * @return array{int, list<string>} how many requests were answered, and what was wrong
 */
function talk(mixed $stream, int $round, int $number): array
{
    $kind = kind($number);
    $name = "$round-$number";
    $pause = $number % 40;
    $expected = ["echo $name" => "ok $name", 'sum 4' => 'ok 10', "sleep $pause" => "ok slept $pause"];
    $expected += match ($kind) {
        'fail', 'lose' => ["$kind client $name" => "failed: client $name"],
        'hang' => ['hang' => sprintf('cut: the request took longer than %d ms', LIMIT)],
        'good' => ["echo once more, $name" => "ok once more, $name", 'quit' => 'the end'],
        default => [],
    };
    $wrong = [];
    if ($kind !== 'leave at once') {
        foreach ($expected as $line => $answer) {
            $heard = ask($stream, $line);
            if ($heard !== $answer) {
                $wrong[] = "client $name ($kind): $line: $heard";
            }
        }
    }
    match ($kind) {
        'leave while it is served' => fwrite($stream, "sleep 100\n"),
        'leave while it hangs' => fwrite($stream, "hang\n"),
        'leave in the middle of a line' => fwrite($stream, 'ech'),
        default => null,
    };
    if (in_array($kind, ['fail', 'lose', 'hang'], true) && ($heard = hear($stream)) !== 'the end') {
        $wrong[] = "client $name ($kind): after that: $heard";
    }
    fclose($stream);
    return [$kind === 'leave at once' ? 0 : count($expected), $wrong];
}

/** One round: all connect, and when all are there they begin to talk. */
function load(int $port, int $round): array
{
    $jobs = array_map(fn () => spawn(connect(...), $port), range(1, CLIENTS));
    $streams = array_map(await(...), $jobs);
    $observer = connect($port);
    $status = json_decode(substr(ask($observer, 'status'), 3), true);
    fclose($observer);
    $jobs = [];
    foreach ($streams as $number => $stream) {
        $jobs[] = spawn(talk(...), $stream, $round, $number);
    }
    unset($streams, $stream);
    $results = array_map(await(...), $jobs);
    return [
        'at once' => $status['connections'] - 1,
        'answered' => array_sum(array_column($results, 0)),
        'wrong' => array_merge(...array_column($results, 1)),
    ];
}

if (realpath($argv[0]) === __FILE__) {
    echo json_encode(load((int) $argv[1], (int) $argv[2]));
}
