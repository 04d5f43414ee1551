<?php
/* EXT-3: spindle-ext. What becomes of futures, and the example in Rust: a client of HTTP on tokio. */

namespace Authors;

/** An extension in Rust, as cargo builds it. */
function cargo(string $folder, string $library): string
{
    static $built = [];
    $target = (getenv('CARGO_TARGET_DIR') ?: ROOT . '/target') . '/extensions';
    $built[$folder] ??= (static function () use ($folder, $target): bool {
        $command = [getenv('CARGO') ?: 'cargo', 'build', '--quiet', '--locked', '--manifest-path', ROOT . "/$folder/Cargo.toml", '--target-dir', $target];
        passthru(implode(' ', array_map(escapeshellarg(...), $command)) . ' >&2', $status);
        same(0, $status, "cargo build of $folder");
        return true;
    })();
    return "$target/debug/lib$library.so";
}

function http(): string
{
    return cargo('examples/extensions/http', 'acme_http');
}

function futures(): string
{
    return cargo('tests/authors/futures', 'authors_futures');
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

$cases['http: awaitables'] = static function () use ($get): void {
    $code = 'try { $first = Http::start("$url/1"); $second = Http::start("$url/404"); $third = Http::start("$url/60000"); echo await($first), "\n"; await($second); }
        catch (Throwable $e) { echo get_class($e), " ", strtr($e->getMessage(), [$url => ""]), "\n"; }
        if (isset($third)) { $third->cancel(); try { await($third); } catch (Async\CancellationException) { echo "cancelled"; } }';
    $get($code, [EXTENSION, http()], "waited /1\nException /404: 404 Not Found\ncancelled");
    $get($code, [http()], "Error Acme\\Http::start() needs Spindle: use get()\n");
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

$futures = static function (string $name, string $code, string $expected) use (&$cases): void {
    $cases["futures: $name"] = static function () use ($code, $expected): void {
        same("$expected\n", php("use function Async\\{spawn, await, delay, suspend};\n$code", [EXTENSION, futures()]));
    };
};

foreach (['' => '', 'in the main coroutine, ' => 'spawn(fn () => 1); ', 'in a coroutine, ' => null] as $where => $before) {
    $run = static fn (string $call) => $before === null ? "echo await(spawn(fn () => $call)), \"\\n\";" : "$before echo $call, \"\\n\";";
    $futures("{$where}ready at once", $run('futures_run("ready", 100)'), 'ready, 0 dropped');
    $futures("{$where}woken by threads, twice each", $run('futures_run("woken", 200)'), 'ready, 1 dropped');
    $futures("{$where}woken by its own poll", $run('futures_run("wakes itself", 200)'), 'ready, 1 dropped');
    $futures("{$where}a task of tokio", $run('futures_run("task")'), 'ready, 1 dropped');
    $futures("{$where}a job", $run('futures_run("job")'), 'ready, 1 dropped');
    $futures("{$where}a sleep", $run('futures_run("sleep", 2)'), 'ready, 0 dropped');
}

$futures('spawned, and awaited with others', <<<'PHP'
    $all = array_map(futures_spawn(...), ['ready', 'woken', 'task']);
    $all[] = spawn(fn () => 'of PHP');
    echo implode(', ', Async\awaitAll($all)), ', ', futures_dropped(), " dropped\n";
    try { await(futures_spawn('ready', true)); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
    var_dump(futures_spawn('unknown'));
    PHP, "ready, ready, ready, of PHP, 5 dropped\nthe result is wrong\nNULL");

$futures('spawned, and cancelled before and while it waits: dropped once', <<<'PHP'
    $before = futures_spawn('never');
    $before->cancel();
    $while = futures_spawn('never');
    while (($while->getAwaitingInfo()['call'] ?? '') !== 'block_on') { delay(1); }
    $while->cancel();
    foreach ([$before, $while] as $c) {
        try { echo await($c); } catch (Async\CancellationException $e) { }
    }
    unset($before, $while, $c);
    echo futures_dropped(), "\n";
    PHP, '4');

$cases['futures: spawned, and dropped at the end of a request that exits'] = static function (): void {
    file_put_contents(WORK . '/exits.php', <<<'PHP'
        <?php
        echo futures_dropped();
        $waits = futures_spawn('never');
        $never_begins = futures_spawn('never');
        while (($waits->getAwaitingInfo()['call'] ?? '') !== 'block_on') { Async\delay(1); }
        exit;
        PHP);
    $fpm = new \Sapi\Fpm(fpm(), WORK, ['extension=' . EXTENSION, 'extension=' . futures()]);
    $connection = $fpm->connect();
    foreach (['0', '4', '8'] as $dropped) {
        same($dropped, $connection->get(WORK . '/exits.php')?->body, 'dropped before');
    }
};

$futures('one that wakes itself lets others run', <<<'PHP'
    $turns = 0;
    $others = spawn(function () use (&$turns) { for (;;) { $turns++; suspend(); } });
    await(spawn(fn () => futures_run('wakes itself', 20)));
    $others->cancel();
    echo $turns >= 20 ? 'they have run' : "$turns turns", "\n";
    PHP, 'they have run');

$futures('cancelled: dropped once, before the exception is thrown', <<<'PHP'
    $c = spawn(function () { try { futures_run('never'); echo 'not here'; } catch (Async\CancellationException $e) { echo 'caught, ', futures_dropped(), "\n"; throw $e; } });
    while (($c->getAwaitingInfo()['call'] ?? '') !== 'block_on') { delay(1); }
    $c->cancel();
    try { await($c); } catch (Async\CancellationException $e) { echo 'ended, ', futures_dropped(), "\n"; }
    PHP, "cancelled, 1 dropped, the exception is to come\ncaught, 1\nended, 1");

$futures('cancelled: a task of tokio is aborted', <<<'PHP'
    // Whether it has been dropped when the call returns is for tokio's thread to say.
    $c = spawn(function () { ob_start(); try { futures_run('task that never ends'); } finally { ob_end_clean(); } });
    while (($c->getAwaitingInfo()['call'] ?? '') !== 'block_on') { delay(1); }
    $c->cancel();
    try { await($c); } catch (Async\CancellationException $e) { }
    while (futures_dropped() === 0) { delay(1); } // on the thread of tokio
    delay(1);
    echo futures_dropped(), "\n";
    PHP, '1');

$futures('cancelled when it has been woken', <<<'PHP'
    $c = spawn(fn () => futures_run('woken', 1));
    suspend();
    $c->cancel();
    try { await($c); } catch (Async\CancellationException $e) { }
    echo futures_dropped(), "\n";
    PHP, "cancelled, 1 dropped, the exception is to come\n1");

$futures('after an exit it leaks, and nothing worse', <<<'PHP'
    spawn(fn () => futures_run('never'));
    spawn(fn () => futures_run('task that never ends'));
    register_shutdown_function(function () { echo futures_dropped(), " dropped\n"; });
    delay(1);
    exit;
    PHP, '0 dropped');

$cases['http: the layout that spindle-ext declares'] = static function (): void {
    $rust = file_get_contents(ROOT . '/crates/ext/src/table.rs');
    $c = file_get_contents(HERE . '/abi.c');
    preg_match_all('/offset_of!\(Table, (\w+?)_?\) == (\d+)\)/', $rust, $ours);
    preg_match_all('/FROZEN\((\w+), (\d+)\)/', $c, $headers);
    same(array_combine($headers[1], $headers[2]), array_combine($ours[1], $ours[2]));
    same(1, preg_match('/const HANDLE: usize = (\d+);/', $rust, $handle));
    same(1, preg_match("/offsetof\\(zend_module_entry, handle\\) == $handle[1]\\b/", $c));
};
