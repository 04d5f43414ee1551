<?php
/* EXT-3: the example in Rust, by spindle-ext: a client of HTTP on tokio. */

namespace Authors;

/** The example, as cargo builds it. */
function http(): string
{
    static $file = null;
    if ($file === null) {
        $target = (getenv('CARGO_TARGET_DIR') ?: ROOT . '/target') . '/examples-http';
        same(0, (static function () use ($target): int {
            passthru(escapeshellarg(getenv('CARGO') ?: 'cargo') . ' build --quiet --locked --manifest-path ' . ROOT . '/examples/extensions/http/Cargo.toml --target-dir ' . escapeshellarg($target) . ' >&2', $status);
            return $status;
        })(), 'cargo build of examples/extensions/http');
        $file = "$target/debug/libacme_http.so";
    }
    return $file;
}

/** A server that answers /N after N milliseconds, in a process of its own, which ends with its object. */
final class Answering
{
    private $process;
    public readonly string $url;

    public function __construct()
    {
        file_put_contents(WORK . '/server.php', <<<'PHP'
            <?php
            use Async\Http\{Request, Response, Server};
            $server = (new Server())->listen('127.0.0.1:0')->handle(function (Request $request): Response {
                Async\delay((int) substr($request->path(), 1));
                return new Response("waited {$request->path()}", $request->path() === '/404' ? 404 : 200);
            });
            Async\spawn(function () use ($server) { fwrite(STDOUT, $server->address() . "\n"); });
            $server->run();
            PHP);
        $this->process = proc_open([PHP_BINARY, '-n', '-d', 'extension=' . EXTENSION, WORK . '/server.php'], [['file', '/dev/null', 'r'], ['pipe', 'w'], ['file', WORK . '/server.err', 'w']], $pipes);
        $this->url = 'http://' . (trim((string) fgets($pipes[1])) ?: throw new Failed('the server does not start: ' . file_get_contents(WORK . '/server.err')));
    }

    public function __destruct()
    {
        proc_terminate($this->process, SIGKILL);
        proc_close($this->process);
    }
}

$get = static function (string $code, array $extensions, string $expected): void {
    $server = new Answering();
    same($expected, php("use Acme\\Http;\nuse function Async\\{spawn, await, delay};\n\$url = '$server->url';\n$code", $extensions));
};

$cases['http: blocks without Spindle, and before the first spawn'] = static function () use ($get): void {
    $code = 'echo Http::get("$url/0"), "\n"; foreach (["$url/404", "http://127.0.0.1:1/", "ftp://x/"] as $bad) { try { Http::get($bad); } catch (Exception $e) { echo get_class($e), " "; } }';
    $get($code, [http()], "waited /0\nException Exception Exception ");
    $get($code, [EXTENSION, http()], "waited /0\nException Exception Exception ");
};

$cases['http: 1,000 requests at once'] = static function () use ($get): void {
    // Each descriptor is there twice: in this process and in the server.
    $get('$all = array_map(fn ($i) => spawn(fn () => Http::get("$url/1$i")), range(0, 9)); $most = 0;
        for ($i = 0; $i < 1000; $i++) { $all[] = spawn(fn () => Http::get("$url/100")); }
        delay(1);
        $most = count(array_filter($all, fn ($c) => ($c->getAwaitingInfo()["call"] ?? "") === "block_on"));
        echo count(array_filter(array_map(fn ($c) => await($c), $all), fn ($text) => str_starts_with($text, "waited /1"))), " ", $most > 900 ? "at once" : "only $most at once";',
        [EXTENSION, http()], '1010 at once');
};

$cases['http: cancelled before, while and after it waits'] = static function () use ($get): void {
    $get('$ended = function ($c) { try { return await($c); } catch (Throwable $e) { return get_class($e); } };
        $waits = function ($c) { while (($c->getAwaitingInfo()["call"] ?? "") !== "block_on") { delay(1); } };
        $c = spawn(fn () => Http::get("$url/60000")); $c->cancel(); echo $ended($c), "\n";
        $all = array_map(fn () => spawn(fn () => Http::get("$url/60000")), range(1, 50));
        array_map($waits, $all);
        foreach ($all as $c) { $c->cancel(); }
        echo implode(" ", array_unique(array_map($ended, $all))), "\n";
        $c = spawn(function () use ($url) { try { Http::get("$url/60000"); } finally { echo Http::get("$url/1"), "\n"; } });
        $waits($c); $c->cancel(); echo $ended($c), "\n";
        echo Http::get("$url/2"), "\n";
        spawn(fn () => Http::get("$url/60000")); delay(1); exit("exits\n");', [EXTENSION, http()],
        "Async\\CancellationException\nAsync\\CancellationException\nwaited /1\nAsync\\CancellationException\nwaited /2\nexits\n");
};

$cases['http: in the child of a fork'] = static function () use ($get): void {
    $get('spawn(fn () => Http::get("$url/60000")); echo Http::get("$url/1"), "\n";
        if (($child = pcntl_fork()) === 0) { echo await(spawn(fn () => Http::get("$url/2"))), "\n"; exit; }
        pcntl_waitpid($child, $status); echo "$status ", Http::get("$url/3"), "\n"; exit;', [EXTENSION, http()], "waited /1\nwaited /2\n0 waited /3\n");
};

$cases['http: the layout that spindle-ext declares'] = static function (): void {
    $rust = file_get_contents(ROOT . '/crates/ext/src/table.rs');
    $c = file_get_contents(HERE . '/abi.c');
    preg_match_all('/offset_of!\(Table, (\w+?)_?\) == (\d+)\)/', $rust, $ours);
    preg_match_all('/FROZEN\((\w+), (\d+)\)/', $c, $headers);
    same(array_combine($headers[1], $headers[2]), array_combine($ours[1], $ours[2]));
    same(1, preg_match('/const HANDLE: usize = (\d+);/', $rust, $handle));
    same(1, preg_match("/offsetof\\(zend_module_entry, handle\\) == $handle[1]\\b/", $c));
};
