<?php
/*
 * The example examples/supervisor.php under load (supervisor-clients.php): once to warm up, and at least three times more, which may
 * leave nothing behind: until the process grows no more.
 */

declare(strict_types=1);

namespace Examples;

require __DIR__ . '/supervisor-clients.php';

const ROUNDS = 4; // at least; the first warms up
const ROUNDS_AT_MOST = 12;
const STEADY = 2048; // KiB that a round may add to a process that does not leak: 2 of each client's

/** Starts PHP with Spindle. @return array{resource, array<int, resource>} */
function start(array $descriptors, string|int ...$arguments): array
{
    $command = [PHP_BINARY, '-d', 'extension=' . EXTENSION, ...array_map(strval(...), $arguments)];
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ...$descriptors], $pipes);
    return [$process, $pipes];
}

/** Starts the service. @return array{resource, int, int} process, its id, its port */
function service(string $log): array
{
    [$process, $pipes] = start([['file', $log, 'w']], __DIR__ . '/../../examples/supervisor.php', 0, LIMIT);
    preg_match('/:(\d+);/', (string) fgets($pipes[1]), $match) || throw new \Exception('the service did not start: ' . file_get_contents($log));
    return [$process, proc_get_status($process)['pid'], (int) $match[1]];
}

/** The service when no client is left but the one that asks. */
function at_rest(int $port): array
{
    for ($tries = 0; $tries < 200; $tries++) {
        $observer = connect($port);
        $status = json_decode(substr(ask($observer, 'status'), 3), true);
        fclose($observer);
        if ($status['connections'] === 1) {
            break;
        }
        usleep(50_000);
    }
    return $status;
}

/** @return array{resident: int, heap: int} KiB that the process has in memory, and those that malloc() has in its heap */
function process_memory(int $pid): array
{
    preg_match('/^VmRSS:\s+(\d+) kB/m', file_get_contents("/proc/$pid/status"), $all);
    preg_match('/\[heap\]\n(?:.*\n)*?Rss:\s+(\d+) kB/', file_get_contents("/proc/$pid/smaps"), $heap);
    return ['resident' => (int) ($all[1] ?? 0), 'heap' => (int) ($heap[1] ?? 0)];
}

/** Waits for the end of a process. -1: it did not end in time. */
function status_of(mixed $process): int
{
    for ($tries = 0; $tries < 200; $tries++) {
        $status = proc_get_status($process);
        if (!$status['running']) {
            return $status['exitcode'];
        }
        usleep(50_000);
    }
    return -1;
}

$cases['the supervisor under load'] = static function (): string {
    (int) shell_exec('ulimit -n') >= CLIENTS + 100 || throw new \Exception('this takes ' . CLIENTS + 100 . ' descriptors (ulimit -n)');
    $wrong = [];
    $count = 0;
    $check = static function (string $what, bool $holds, mixed $detail = '') use (&$wrong, &$count): void {
        $count++;
        $holds || $wrong[] = "$what: " . (is_string($detail) ? $detail : json_encode($detail));
    };
    $log = WORK . '/supervisor.log';
    [$process, $pid, $port] = service($log);
    register_shutdown_function(function () use (&$process, $log): void {
        if (is_resource($process) && proc_get_status($process)['running']) {
            proc_terminate($process, SIGKILL);
        }
    });

    $kinds = array_count_values(array_map(kind(...), range(0, CLIENTS - 1)));
    $answers = 5 * $kinds['good'] + 4 * ($kinds['fail'] + $kinds['lose'] + $kinds['hang'])
        + 3 * ($kinds['leave while it is served'] + $kinds['leave while it hangs'] + $kinds['leave in the middle of a line']);
    $failures = $kinds['fail'] + $kinds['lose'];

    $before = at_rest($port);
    $rests = [];
    $added = INF; // KiB, by the last round
    for ($round = 1; $round <= ROUNDS || $added >= STEADY && $round <= ROUNDS_AT_MOST; $round++) {
        [$clients, $pipes] = start([], __DIR__ . '/supervisor-clients.php', $port, $round);
        $report = json_decode((string) stream_get_contents($pipes[1]), true);
        $check("round $round: the clients end in order", proc_close($clients) === 0 && is_array($report));
        $check("round $round: all are connected at once", ($report['at once'] ?? 0) === CLIENTS, $report['at once'] ?? null);
        $check("round $round: each request is answered", ($report['answered'] ?? 0) === $answers, $report['answered'] ?? null);
        $check("round $round: each answer is right", ($report['wrong'] ?? null) === [], array_slice($report['wrong'] ?? [], 0, 5));
        $rests[] = $rest = at_rest($port) + process_memory($pid);
        $added = $round === 1 ? INF : $rest['resident'] - $rests[$round - 2]['resident'];
        foreach (['connections', 'coroutines', 'scopes', 'descriptors'] as $what) {
            $check("round $round: no $what left", $rest[$what] === $before[$what], [$before[$what], $rest[$what]]);
        }
        $check("round $round: failures are counted", $rest['failures'] === $round * $failures, $rest['failures']);
    }
    $rounds = count($rests);
    // What leaks, leaks in every round; a table of PHP's that grows once more does so in one. Stacks are kept, and each keeps the
    // pages of the deepest call that it has ever had: there the process may grow for some rounds, by less and less.
    $grown = [];
    for ($round = 1; $round < $rounds; $round++) {
        $grown[] = $rests[$round]['memory'] - $rests[$round - 1]['memory'];
    }
    $check('memory is flat in some round', $rests[0]['memory'] > 0 && min($grown) < 50 * CLIENTS, $grown);
    $check('memory is flat over all', array_sum($grown) < 1_000_000, $grown);
    $more = end($rests)['heap'] - $rests[0]['heap'];
    $check('memory is flat (heap)', $rests[0]['heap'] > 0 && $more < 1024, "grown by $more");
    $check('memory is flat (resident)', $rests[0]['resident'] > 0 && $added < STEADY, array_column($rests, 'resident'));

    // Each failure is in the log, once, and nothing else is.
    $expected = [];
    for ($round = 1; $round <= $rounds; $round++) {
        for ($number = 0; $number < CLIENTS; $number++) {
            if (in_array(kind($number), ['fail', 'lose'], true)) {
                $expected[] = "client $round-$number";
            }
        }
    }
    $lines = file($log, FILE_IGNORE_NEW_LINES);
    $found = preg_filter('/^[\d:]{8} connection \d+ failed: /', '', $lines);
    sort($expected);
    sort($found);
    $check('each failure is logged once', $found === $expected, [count($expected), count($found)]);
    $check('nothing else is logged', count($lines) === count($found), array_slice(array_diff($lines, preg_grep('/ failed: /', $lines)), 0, 5));

    // SIGTERM: who waits for a command goes, who is served is answered first, and no new client comes in.
    [$idle, $served, $hanging] = [connect($port), connect($port), connect($port)];
    $check('an idle client is served', ask($idle, 'echo I am') === 'ok I am');
    fwrite($served, "sleep 1000\n");
    fwrite($hanging, "hang\n");
    $observer = connect($port);
    do {
        $status = json_decode(substr(ask($observer, 'status'), 3), true);
    } while ($status['scopes'] < 1 + 1 + 3 + 3 + 3); // the service; the idle one; those with a request and its limiter
    fclose($observer);
    proc_terminate($process, SIGTERM);
    $check('an idle client is sent away', [hear($idle), hear($idle)] === ['cut: the service stops', 'the end']);
    $check('no new client is let in', @stream_socket_client("tcp://127.0.0.1:$port", timeout: 1) === false);
    $check('one that is served gets its answer', [hear($served), hear($served), hear($served)] === ['ok slept 1000', 'bye: the service stops', 'the end']);
    $heard = [hear($hanging), hear($hanging)];
    $check('one that hangs is cut at last', $heard === ['cut: the service stops', 'the end'], $heard);
    $check('SIGTERM ends it in order', ($status = status_of($process)) === 0, $status);
    $last = array_slice(file($log, FILE_IGNORE_NEW_LINES), count($lines));
    $summary = sprintf('of which %d failed', $rounds * $failures);
    $check('its last words', count($last) === 1 && str_contains($last[0], $summary), $last);

    // The same by a command, with nobody else there.
    proc_close($process);
    [$process, , $port] = service($log);
    $client = connect($port);
    $check('stop is answered', [ask($client, 'stop'), hear($client), hear($client)] === ['ok', 'bye: the service stops', 'the end']);
    $check('stop ends it in order', ($status = status_of($process)) === 0, $status);

    $wrong === [] || throw new \Exception(implode("\n", $wrong));
    return sprintf('%d checks with %d clients %d times', $count, CLIENTS, $rounds);
};
