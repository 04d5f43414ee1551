<?php
/*
 * What an operator sees of `spindle serve`: logs whose lines belong to requests, metrics for Prometheus, and a dashboard of them (PROC-4, OBS-2, OBS-3).
 */

declare(strict_types=1);

namespace ServerTests;

const OBSERVED = <<<'PHP'
    return function (Async\Http\Request $r) {
        switch ($r->path()) {
            case '/throws': throw new RuntimeException("of\na handler");
            case '/warns': trigger_error('careful', E_USER_WARNING); break;
            case '/logs': error_log('by itself'); break;
            case '/pid': return (string) getmypid();
            case '/loop': while (true);
            case '/waits': usleep((int) $r->query('us')); break;
            case '/fails': return new Async\Http\Response('', 500);
        }
        return $r->id();
    };
    PHP;

/** Returns lines of standard error that have this text, when there are so many. */
function told(Serving $serve, string $text, int $count = 1): array
{
    until(function () use ($serve, $text, $count, &$lines) {
        return count($lines = array_values(array_filter(explode("\n", $serve->errors()), fn($line) => str_contains($line, $text)))) >= $count;
    });
    return $lines;
}
$cases['serve: each line of the error log has the id of its request, in all formats'] = function () {
    $trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    foreach (['handler', 'worker'] as $mode) {
        foreach (['combined', 'json', 'logfmt'] as $format) {
            $app = $mode === 'handler' ? OBSERVED : str_replace(['(Async\Http\Request $r)', '$r->path()', 'return $r->id();'], ['()', "strtok(\$_SERVER['REQUEST_URI'], '?')", 'echo Async\Http\requestId();'], OBSERVED);
            $serve = new Serving('--workers', '2', '--log', $format, '--mode', $mode, '--set', 'trusted_proxies=127.0.0.1', '--set', 'send_request_id=true', app('observed.php', $app));
            foreach (['/throws' => 'of', '/warns' => 'careful', '/logs' => 'by itself'] as $path => $text) {
                $serve->get($path, "-H 'X-Request-Id: id-of$path' -H 'traceparent: 00-$trace-00f067aa0ba902b7-01'");
                $line = told($serve, $text)[0];
                if ($format === 'combined') {
                    same(1, preg_match("~^\[request id-of$path, worker [12], coroutine #\d+] (PHP \w+|by itself)~", $line));
                } elseif ($format === 'json') {
                    $entry = json_decode($line, true);
                    same([['time', 'level', 'message', 'method', 'target', 'request_id', 'trace_id', 'worker', 'coroutine'], "id-of$path", $trace, 'GET', $path], [array_keys($entry), $entry['request_id'], $entry['trace_id'], $entry['method'], $entry['target']]);
                    same([true, true, true], [in_array($entry['worker'], [1, 2], true), $entry['coroutine'] > 1, str_contains($entry['message'], $text)]);
                    same(match ($path) { '/throws' => $mode === 'worker' ? 'error' : 'warning', '/warns' => 'warning', default => 'notice' }, $entry['level']);
                } else {
                    same(1, preg_match("~^time=\S+Z level=\w+ message=\".*\" method=GET target=$path request_id=id-of$path trace_id=$trace worker=[12] coroutine=\d+$~", $line));
                }
            }
            // The access log has the same ids.
            until(fn() => preg_match_all('~id-of/(throws|warns|logs)~', file_get_contents(WORK . '/serve.out')) === 3);
            $first = strtok(file_get_contents(WORK . '/serve.out'), "\n");
            same(1, preg_match(match ($format) {
                'combined' => '~" id-of/throws$~',
                'json' => "~,\"request_id\":\"id-of/throws\",\"trace_id\":\"$trace\",\"worker\":[12],\"coroutine\":\d+}$~",
                'logfmt' => "~ status=500 .* request_id=id-of/throws trace_id=$trace worker=[12] coroutine=\d+$~",
            }, $first));
            same('id-of/x', trim($serve->get('/warns', "-H 'X-Request-Id: id-of/x' -o /dev/null -w '%header{x-request-id}'")));
            $serve->signal();
            same(0, $serve->end());
        }
    }
};
$cases['serve: the line of a worker that stands still, and of a slow request, have the id of the request'] = function () {
    $serve = new Serving('--workers', '2', '--stuck-timeout', '3', '--log', 'off', '--set', 'request_timeout=0', '--set', 'slow_request=1', '--admin', 'unix:' . WORK . '/admin.sock', app('observed.php', OBSERVED));
    $client = popen("curl -s --max-time 60 '$serve->url/loop'", 'r');
    $slow = told($serve, 'Slow request: GET /loop has run for ')[0];
    same(1, preg_match('~^\[request ([0-9a-f]{32}), worker [12], coroutine #(\d+)] Slow~', $slow, $found));
    same(1, preg_match('~^  #' . $found[2] . ' running, .*\n    at \S*/observed.php:8$~m', $serve->errors()));
    $stuck = told($serve, 'computes in ')[0];
    same(true, str_contains($stuck, "coroutine #$found[2] (GET /loop, request $found[1]) computes in "));
    pclose($client);
    until(fn() => array_column(status()['workers'], 'stage') === ['serving', 'serving']); // one that starts may have to be ended
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: the metrics are those of Prometheus, and count what has ended'] = function () {
    $serve = new Serving('--workers', '2', '--log', 'off', '--admin', 'unix:' . WORK . '/admin.sock', app('observed.php', OBSERVED));
    $all = workers($serve, 2);
    $before = metric('spindle_responses_total{class="2xx"}');
    $le = fn(string $bound) => metric("spindle_request_duration_seconds_bucket{le=\"$bound\"}");
    [$short, $every] = [$le('0.1'), $le('+Inf')];
    foreach (range(1, 10) as $i) $serve->get('/');
    foreach (range(1, 3) as $i) $serve->get('/waits?us=300000');
    $serve->get('/fails');
    until(fn() => $le('+Inf') === $every + 14);
    same([$before + 13, 1.0, 0.0], [metric('spindle_responses_total{class="2xx"}'), metric('spindle_responses_total{class="5xx"}'), metric('spindle_responses_total{class="4xx"}')]);
    // Each of the three has waited for 0.3 seconds.
    same([true, true], [$le('0.25') <= $every + 11, metric('spindle_request_duration_seconds_sum') >= 0.9]);
    same($le('+Inf'), metric('spindle_request_duration_seconds_count'));
    $bounds = array_map($le, ['0.001', '0.0025', '0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '30', '+Inf']);
    $sorted = $bounds;
    sort($sorted);
    same($sorted, $bounds);
    // What workers have counted that are gone is not lost.
    posix_kill((int) $all[0], SIGKILL);
    until(fn() => array_diff(workers($serve, 2), $all));
    same(true, $le('+Inf') >= $every + 14);
    file_put_contents(WORK . '/metrics', admin('/metrics') . "\n");
    same('', shell('promtool check metrics < ' . WORK . '/metrics'));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: Prometheus scrapes the command'] = function () {
    [$port, $own] = [free_port(), free_port()];
    $serve = new Serving('--workers', '2', '--log', 'off', '--admin', "127.0.0.1:$port", app('observed.php', OBSERVED));
    foreach (range(1, 10) as $i) $serve->get('/');
    file_put_contents(WORK . '/prometheus.yml', "scrape_configs: [{job_name: app, scrape_interval: 1s, static_configs: [{targets: ['127.0.0.1:$port']}]}]\n");
    $command = ['prometheus', '--config.file', WORK . '/prometheus.yml', '--storage.tsdb.path', WORK . '/tsdb', '--web.listen-address', "127.0.0.1:$own"];
    $prometheus = proc_open($command, [['file', '/dev/null', 'r'], ['file', WORK . '/prometheus.log', 'w'], ['redirect', 1]], $pipes, WORK);
    try {
        $query = fn(string $text) => json_decode(shell("curl -s --max-time 30 'http://127.0.0.1:$own/api/v1/query' --data-urlencode " . escapeshellarg("query=$text")), true)['data']['result'][0]['value'][1] ?? null;
        until(fn() => proc_get_status($prometheus)['running'] ? $query('sum(spindle_responses_total{job="app",class="2xx"})') === '10' : throw new \Exception(file_get_contents(WORK . '/prometheus.log')));
        same(['1', '2', '10'], array_map($query, ['up{job="app"}', 'spindle_workers{stage="serving"}', 'spindle_request_duration_seconds_bucket{le="+Inf"}']));
    } finally {
        proc_terminate($prometheus);
        proc_close($prometheus);
    }
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: the dashboard asks for metrics that there are'] = function () {
    $serve = new Serving('--log', 'off', '--admin', 'unix:' . WORK . '/admin.sock', app('observed.php', OBSERVED));
    $text = file_get_contents(dirname(HERE, 2) . '/packaging/grafana/spindle.json');
    $board = json_decode($text, true, flags: JSON_THROW_ON_ERROR);
    $asked = [];
    array_walk_recursive($board, function ($value, $key) use (&$asked) {
        $key === 'expr' && preg_match_all('~\bspindle_\w+~', $value, $found) && array_push($asked, ...$found[0]);
    });
    preg_match_all('~^(spindle_\w+)~m', admin('/metrics'), $found);
    preg_match_all('~^# TYPE (\S+)~m', admin('/metrics'), $types);
    same([true, []], [count($asked) > 10, array_values(array_diff($asked, $found[1], $types[1]))]);
    foreach ($board['panels'] as $panel) {
        same([true, true], [$panel['title'] !== '', $panel['type'] === 'row' || count($panel['targets']) > 0]);
    }
    // Each expression is one of Prometheus.
    $rules = ['groups' => [['name' => 'dashboard', 'rules' => []]]];
    array_walk_recursive($board, function ($value, $key) use (&$rules) {
        $key === 'expr' && $rules['groups'][0]['rules'][] = ['record' => 'dashboard:' . count($rules['groups'][0]['rules']), 'expr' => str_replace('$__rate_interval', '5m', $value)];
    });
    file_put_contents(WORK . '/rules.yml', json_encode($rules, JSON_UNESCAPED_SLASHES));
    same(true, str_contains(shell('promtool check rules ' . WORK . '/rules.yml'), 'SUCCESS: '));
    $serve->signal();
    same(0, $serve->end());
};
