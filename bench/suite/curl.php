<?php
/**
 * Requests by cURL to a server on this machine, over connections that are kept: CPU ns for each.
 *
 * The Spindle side has 64 coroutines, each with a handle that it uses $n times by `curl_exec`. The plain side has, by $way,
 * 0: one loop of `curl_multi` over 64 handles, written by hand; 1: the same calls of `curl_exec`, one after the other.
 */
require __DIR__ . '/../lib/suite.php';

const HANDLES = 64;

/** Starts the C server and returns the URL. */
function server(): string
{
    extension_loaded('curl') || (function_exists('dl') && @dl('curl')) || exit("skipped: PHP has no cURL here\n");
    $binary = tempnam(sys_get_temp_dir(), 'spindle-bench-');
    exec('cc -O2 -o ' . escapeshellarg($binary) . ' ' . escapeshellarg(dirname(__DIR__) . '/epoll.c') . ' 2>&1', $out, $status);
    $status === 0 || exit("skipped: there is no working `cc` here\n");
    // Not on the processor that PHP is kept on.
    $pinned = (int) shell_exec('nproc --all') >= 2 && shell_exec('command -v taskset') ? ['taskset', '-c', '0'] : [];
    $process = proc_open([...$pinned, $binary, 'http'], [['file', '/dev/null', 'r'], ['pipe', 'w']], $pipes);
    $port = (int) fgets($pipes[1]);
    register_shutdown_function(static function () use ($process, $binary): void {
        proc_terminate($process);
        unlink($binary);
    });
    return "http://127.0.0.1:$port/";
}

function handle(string $url): CurlHandle
{
    $handle = curl_init($url);
    curl_setopt($handle, CURLOPT_RETURNTRANSFER, true);
    return $handle;
}

function requests(CurlHandle $handle, int $n): int
{
    $bytes = 0;
    for ($i = 0; $i < $n; $i++) {
        $bytes += strlen((string) curl_exec($handle));
    }
    return $bytes;
}

function withCoroutines(int $n, array $handles): int
{
    $all = array_map(static fn(CurlHandle $handle) => Async\spawn('requests', $handle, $n), $handles);
    return array_sum(array_map(Async\await(...), $all));
}

function withMulti(int $n, array $handles): int
{
    $multi = curl_multi_init();
    $left = [];
    foreach ($handles as $handle) {
        curl_multi_add_handle($multi, $handle);
        $left[spl_object_id($handle)] = $n;
    }
    $bytes = 0;
    do {
        curl_multi_exec($multi, $running);
        while ($done = curl_multi_info_read($multi)) {
            $handle = $done['handle'];
            $bytes += strlen((string) curl_multi_getcontent($handle));
            curl_multi_remove_handle($multi, $handle);
            if (--$left[spl_object_id($handle)] > 0) {
                curl_multi_add_handle($multi, $handle);
                $running = 1;
            }
        }
        if ($running) {
            curl_multi_select($multi, 1.0);
        }
    } while ($running);
    return $bytes;
}

function oneByOne(int $n, array $handles): int
{
    $bytes = 0;
    for ($i = 0; $i < $n; $i++) {
        foreach ($handles as $handle) {
            $bytes += requests($handle, 1);
        }
    }
    return $bytes;
}

function measure(int $n, Closure $run): float
{
    $url = server();
    $handles = array_map(static fn() => handle($url), range(1, HANDLES));
    $run(2, $handles);
    $start = cpu();
    $bytes = $run($n, $handles);
    $time = cpu() - $start;
    check($bytes === 5 * $n * HANDLES, "$bytes bytes received");
    return $time / $n / HANDLES;
}

bench('ns',
    spindle: static fn(int $n): float => measure($n, withCoroutines(...)),
    plain: static fn(int $n, int $way = 0): float => measure($n, $way ? oneByOne(...) : withMulti(...)),
);
