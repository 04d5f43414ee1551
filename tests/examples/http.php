<?php
/*
 * The examples of the HTTP server: the API on a real PostgreSQL and on SQLite, the upload with curl and in a browser, the proxy
 * between curl and the upload.
 */

declare(strict_types=1);

namespace Examples;

/** An example that runs. */
final class Example
{
    private $process;
    private $pipes;
    /** The line that it prints first, without the slash at its end. */
    public readonly string $url;

    public function __construct(string $name, array $arguments = [], array $environment = [])
    {
        $command = [PHP_BINARY, '-d', 'extension=' . EXTENSION, '-d', 'display_errors=stderr', ROOT . "/examples/$name.php", ...$arguments, '127.0.0.1:0'];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['file', WORK . '/stderr', 'a']], $this->pipes,
            WORK, $environment + ['TMPDIR' => WORK] + getenv());
        $this->url = rtrim((string) fgets($this->pipes[1]), "/\n") ?: throw new \Exception('it does not start: ' . file_get_contents(WORK . '/stderr'));
    }

    /** Ends it as Ctrl+C does. Returns its status. */
    public function stop(): int
    {
        proc_terminate($this->process, SIGINT);
        stream_get_contents($this->pipes[1]);
        return proc_close($this->process);
    }

    public function pid(): int
    {
        return proc_get_status($this->process)['pid'];
    }
}

function shell(string $command): string
{
    exec("timeout 120 $command 2>&1", $lines, $status);
    return implode("\n", $lines) . ($status ? " (status $status)" : '');
}

/** Returns the status and the body of an answer. */
function curl(string $url, string $options = ''): array
{
    $answer = shell("curl -s -w '\\n%{http_code}' --max-time 60 $options " . escapeshellarg($url));
    $at = strrpos($answer, "\n");
    return [(int) substr($answer, $at + 1), substr($answer, 0, $at)];
}

function same(mixed $expected, mixed $found): void
{
    $expected === $found || throw new \Exception('expected ' . var_export($expected, true) . ', found ' . var_export($found, true));
}

function use_notes(string $url): void
{
    same([200, '[]'], curl($url));
    // 40 at once, each with three notes; and one that has a text that is too long, of which none is kept.
    $urls = implode(' ', array_map(fn(int $n) => "--next -s -o /dev/null -w '%{http_code} ' -d '[\"a$n\",\"b$n\",\"c$n\"]' $url", range(1, 40)));
    same(trim(str_repeat('201 ', 40)), shell("curl --no-progress-meter --parallel --parallel-immediate --parallel-max 40 " . substr($urls, 7)));
    file_put_contents(WORK . '/long', json_encode(['short', str_repeat('x', 1001)]));
    same(422, curl($url, '--data-binary @' . WORK . '/long')[0]);
    same(400, curl($url, "-d '[\"'")[0]);
    $notes = json_decode(curl($url)[1], true);
    $texts = array_column($notes, 'text');
    sort($texts);
    $expected = array_merge(...array_map(fn(int $n) => ["a$n", "b$n", "c$n"], range(1, 40)));
    sort($expected);
    same($expected, $texts);
    $id = $notes[7]['id'];
    same([200, json_encode($notes[7])], curl("$url/$id"));
    same([204, ''], curl("$url/$id", '-X DELETE'));
    same([404, 404], [curl("$url/$id")[0], curl("$url/$id", '-X DELETE')[0]]);
    same([405, 405, 404], [curl($url, '-X PUT')[0], curl("$url/$id", '-X PATCH')[0], curl(dirname($url))[0]]);
    same(119, count(json_decode(curl($url)[1], true)));
}

$cases += [
    'the API, SQLite' => function (): void {
        $api = new Example('http-api');
        use_notes($api->url);
        same(0, $api->stop());
    },
    'the API, PostgreSQL' => function (): void {
        postgres();
        $server = [getenv('SPINDLE_PG_DSN'), getenv('SPINDLE_PG_USER'), getenv('SPINDLE_PG_PASSWORD')];
        $api = new Example('http-api', [], array_combine(['DB_DSN', 'DB_USER', 'DB_PASSWORD'], $server));
        use_notes($api->url);
        $count = (new \PDO(...$server))->query("select count(*) from pg_stat_activity where backend_type = 'client backend'")->fetchColumn();
        same(true, $count >= 2 && $count <= 11); // this one's, and those of the pool
        same(0, $api->stop());
    },
    'the upload' => function (): void {
        $upload = new Example('http-upload');
        $file = WORK . '/file';
        file_put_contents($file, random_bytes(20_000_000));
        $sum = json_encode(['bytes' => 20_000_000, 'sha256' => hash_file('sha256', $file)]);
        $news = fopen("$upload->url/progress?name=one", 'r');
        same("event: ready\n", fgets($news));
        same([200, $sum], curl("$upload->url/upload?name=one", "-X POST -T $file"));
        preg_match_all('~^event: (\w+)\ndata: (.*)$~m', stream_get_contents($news), $events, PREG_SET_ORDER);
        same(['end', $sum], array_slice(array_pop($events), 1));
        same(true, $events !== []);
        $before = 0;
        foreach ($events as [, $event, $data]) {
            ['got' => $got, 'of' => $of] = json_decode($data, true);
            same(['progress', 20_000_000, true], [$event, $of, $got > $before]);
            $before = $got;
        }
        same([200, $sum], curl("$upload->url/upload", "-X POST -T $file")); // nobody listens
        same(0, $upload->stop());
    },
    'the upload, in a browser' => function (): void {
        $upload = new Example('http-upload');
        // The time of the page stands still while it waits for the network.
        $page = shell('chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --user-data-dir='
            . WORK . "/browser --virtual-time-budget=10000 --dump-dom '$upload->url/?bytes=3000000' 2>/dev/null");
        preg_match('~<progress value="(.*?)".*<p>(.*?)</p>~s', $page, $found);
        same(['1', json_encode(['bytes' => 3_000_000, 'sha256' => hash('sha256', str_repeat('x', 3_000_000))])], array_slice($found, 1));
        same(0, $upload->stop());
    },
    'the proxy' => function (): void {
        $upload = new Example('http-upload');
        $proxy = new Example('http-proxy', [$upload->url]);
        same(curl("$upload->url/"), curl("$proxy->url/"));
        same([404, ''], curl("$proxy->url/nothing", '-I -o /dev/null'));
        // An event is passed on before the answer is complete; a body in both directions, of a length that is known or not.
        $news = fopen("$proxy->url/progress?name=two", 'r');
        same("event: ready\n", fgets($news));
        $file = WORK . '/file';
        file_put_contents($file, random_bytes(60_000_000));
        $sum = json_encode(['bytes' => 60_000_000, 'sha256' => hash_file('sha256', $file)]);
        same([200, $sum], curl("$proxy->url/upload?name=two", "-X POST -T $file"));
        same(true, str_contains(stream_get_contents($news), "event: end\ndata: $sum\n"));
        same([200, $sum], curl("$proxy->url/upload", "-X POST -H 'Transfer-Encoding: chunked' -T $file"));
        preg_match('~^VmHWM:\s+(\d+)~m', file_get_contents("/proc/{$proxy->pid()}/status"), $found);
        same(true, $found[1] < 50_000); // KiB, of which PHP takes the most
        // Who leaves ends the request behind it.
        $left = popen("exec curl -sN '$proxy->url/progress?name=three'", 'r');
        same("event: ready\n", fgets($left));
        shell('pkill -KILL -f ' . escapeshellarg("^curl -sN $proxy->url"));
        pclose($left);
        same(0, $upload->stop());
        same(502, curl("$proxy->url/")[0]);
        same(0, $proxy->stop());
    },
];
