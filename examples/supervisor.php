<?php

/**
 * A TCP service that survives its requests: plain PHP streams, one scope for each connection.
 *
 *     php -d extension=build/spindle.so examples/supervisor.php [port] [milliseconds that a request may take]
 *
 * It prints its address; talk to it with `telnet 127.0.0.1 PORT`, one command on each line:
 *
 *     echo TEXT      answers at once
 *     sleep MS       answers after a while; others are served meanwhile
 *     sum N          has N helpers find the answer
 *     fail TEXT      throws: it is logged, this connection ends, the others do not notice
 *     lose TEXT      the same in a helper that nobody waits for
 *     hang           never answers: its limiter ends it
 *     status         what the service is made of just now
 *     quit, stop     end this connection, or the service as SIGTERM does
 *
 * Who belongs to whom, and so: what ends with whom, and where failures go:
 *
 *     the service            a scope; its child-scope handler logs failures, and the service goes on
 *     └── a connection       a scope: closing it ends whatever runs for this client
 *         └── a request      a scope: when it is answered, what it has left behind ends
 *             └── a limiter  a scope with one coroutine, which cancels the request when its time is over
 */

declare(strict_types=1);

use Async\{AwaitCancelledException, CancellationException, Coroutine, Scope};
use function Async\{await, currentCoroutine, delay, getCoroutines, spawn, timeout};

final class Connection
{
    /** It waits for a command. */
    public bool $idle = true;

    /** @param resource $stream */
    public function __construct(public readonly int $number, public readonly Scope $scope, public readonly mixed $stream)
    {
    }

    /** Sends one line. False when the client is gone, which is no failure. */
    public function tell(string $line): bool
    {
        return @fwrite($this->stream, "$line\n") !== false;
    }
}

final class Service
{
    private const GRACE = 2000; // ms that requests have at the end

    private readonly Scope $scope;
    private readonly Coroutine $accepting;
    /** @var array<int, Connection> Holding the connection holds its scope: who drops it, drops what runs in it. */
    private array $connections = [];
    private int $served = 0;
    private int $failures = 0;
    private bool $stopping = false;

    /** @param resource $socket */
    public function __construct(private readonly mixed $socket, private readonly int $limit)
    {
        $this->scope = new Scope();
        $this->scope->setChildScopeExceptionHandler($this->failed(...));
    }

    /** Serves until it is stopped. Signals interrupt what the script itself waits in: so that is where clients come in. */
    public function run(): void
    {
        $this->accepting = currentCoroutine();
        try {
            $this->accept();
        } catch (CancellationException) {
            // stop() has been called
        }
        fclose($this->socket);
        try {
            $this->scope->awaitCompletion(timeout(self::GRACE));
        } catch (AwaitCancelledException) {
            $this->scope->cancel(new CancellationException('the service stops'));
            $this->scope->awaitAfterCancellation();
        }
        note("stopped after $this->served connections, of which $this->failures failed");
    }

    /** No more clients; who waits for a command is sent away, requests that are under way are answered. */
    public function stop(): void
    {
        if ($this->stopping) {
            return;
        }
        $this->stopping = true;
        $this->accepting->cancel();
        foreach ($this->connections as $connection) {
            if ($connection->idle) {
                $connection->scope->cancel(new CancellationException('the service stops'));
            }
        }
    }

    private function accept(): void
    {
        while (true) {
            // Waits: so does this coroutine, and nobody else. False: nobody came for a minute, or a signal did.
            $stream = @stream_socket_accept($this->socket);
            if ($stream !== false) {
                $this->serve($stream);
            } elseif (str_contains(error_get_last()['message'] ?? '', 'Too many open files')) {
                delay(50);
            }
        }
    }

    /** @param resource $stream */
    private function serve(mixed $stream): void
    {
        $connection = new Connection(++$this->served, Scope::inherit($this->scope), $stream);
        $this->connections[$connection->number] = $connection;
        // However it ends, this is where it does.
        $connection->scope->onFinally(function () use ($connection): void {
            fclose($connection->stream);
            unset($this->connections[$connection->number]);
        });
        // What runs for this client can find it: a value of a scope is found in those below it.
        $connection->scope->set(Connection::class, $connection);
        $connection->scope->spawn($this->talk(...), $connection);
    }

    private function talk(Connection $connection): void
    {
        try {
            while (!$this->stopping) {
                $connection->idle = true;
                $line = fgets($connection->stream, 8192);
                $connection->idle = false;
                if ($line === false || !str_ends_with($line, "\n")) {
                    return; // the client is gone, or was silent for too long (default_socket_timeout)
                }
                $line = rtrim($line);
                if ($line === 'quit' || !$connection->tell($this->answer($line))) {
                    return;
                }
            }
            $connection->tell('bye: the service stops');
        } catch (CancellationException $e) {
            // When a failure is behind it, failed() says so to the client.
            if ($e->getPrevious() === null) {
                $connection->tell("cut: {$e->getMessage()}");
            }
            // Either this coroutine is asked to end, or only the request was that it waited for.
            if (currentCoroutine()->isCancellationRequested()) {
                throw $e;
            }
        }
        // All else goes up: to failed().
    }

    /** Has one request answered, in a scope of its own below that of the connection. */
    private function answer(string $line): string
    {
        $request = Scope::inherit();
        $limiter = Scope::inherit($request);
        $limiter->spawn(function () use ($request): void {
            delay($this->limit);
            $request->cancel(new CancellationException("the request took longer than $this->limit ms"));
        });
        try {
            return await($request->spawn($this->command(...), $line));
        } finally {
            // Answered or not: the limiter ends, and helpers that were left behind.
            $request->cancel();
            $request->awaitAfterCancellation();
        }
    }

    private function command(string $line): string
    {
        [$name, $argument] = explode(' ', $line, 2) + [1 => ''];
        switch ($name) {
            case 'echo':
                return "ok $argument";
            case 'sleep':
                usleep(1000 * (int) $argument);
                return "ok slept $argument";
            case 'sum':
                // Spawned in a coroutine of the request, the helpers are in its scope.
                $help = function (int $i): int {
                    delay($i % 5);
                    return $i;
                };
                $helpers = array_map(fn (int $i) => spawn($help, $i), range(1, max(1, (int) $argument)));
                return 'ok ' . array_sum(array_map(await(...), $helpers));
            case 'fail':
                throw new RuntimeException($argument);
            case 'lose':
                spawn(fn () => throw new RuntimeException($argument));
                return $this->command('hang');
            case 'hang':
                while (true) {
                    sleep(60);
                }
            case 'status':
                return 'ok ' . json_encode($this->status());
            case 'stop':
                $this->stop();
                return 'ok';
            default:
                return "unknown command: $name";
        }
    }

    /** A failure below the service that nobody has taken. The connection is cancelled already; the client is told why. */
    private function failed(Scope $service, Coroutine $coroutine, Throwable $failure): void
    {
        $this->failures++;
        $connection = $coroutine->getScope()->get(Connection::class);
        note("connection $connection->number failed: {$failure->getMessage()}");
        $connection->tell("failed: {$failure->getMessage()}");
    }

    /** @return array<string, int> */
    private function status(): array
    {
        gc_collect_cycles();
        $count = function (Scope $scope) use (&$count): int {
            return 1 + array_sum(array_map($count, $scope->getChildScopes()));
        };
        return [
            'connections' => count($this->connections),
            'served' => $this->served,
            'failures' => $this->failures,
            'coroutines' => count(getCoroutines()),
            'scopes' => $count($this->scope),
            'descriptors' => count(scandir('/proc/self/fd')) - 3, // ., .. and the one that scandir uses
            'memory' => memory_get_usage(),
        ];
    }
}

function note(string $text): void
{
    fwrite(STDERR, date('H:i:s') . " $text\n");
}

if (!extension_loaded('spindle')) {
    fwrite(STDERR, "This needs Spindle: php -d extension=build/spindle.so {$argv[0]} [port]\n");
    exit(1);
}
// Many clients may come at once.
$options = stream_context_create(['socket' => ['backlog' => 1024]]);
$socket = stream_socket_server('tcp://127.0.0.1:' . ($argv[1] ?? 8765), $code, $message, context: $options);
if (!$socket) {
    fwrite(STDERR, "supervisor: $message\n");
    exit(1);
}
$service = new Service($socket, (int) ($argv[2] ?? 1000));
if (function_exists('pcntl_async_signals')) {
    pcntl_async_signals(true);
    pcntl_signal(SIGTERM, fn () => $service->stop());
    pcntl_signal(SIGINT, fn () => $service->stop());
}
echo 'listening on ', stream_socket_get_name($socket, false), "; a line with 'stop', or SIGTERM, ends it\n";
$service->run();
