<?php

/**
 * A server on an event loop in PHP, and coroutines that use PostgreSQL by PDO, in one process. Both have to make progress while
 * the other waits: the server answers while a query waits for a lock, and what the server receives ends that wait.
 *
 * The steps follow from each other, so an order that is wrong hangs. A case (cases/*.php) calls this with its server.
 */

declare(strict_types=1);

namespace Loops;

use Async\Channel;
use Async\Coroutine;

use function Async\await;
use function Async\spawn;

/** What a server does for its clients: it answers lines. */
final class Service
{
    public readonly Channel $releases;

    public function __construct(private readonly Coroutine $locker)
    {
        $this->releases = new Channel(1);
    }

    /**
     * Returns the answer to a line, or null if it comes later, by a coroutine that calls $later.
     *
     * @param \Closure(string): void $later
     */
    public function answer(string $line, \Closure $later): ?string
    {
        if ($line === 'release') {
            $this->releases->trySend(true);
            spawn(fn () => $later(await($this->locker) . "\n"));
            return null;
        }
        return strtoupper($line) . ($this->locker->isCompleted() ? ' too late' : '') . "\n";
    }
}

/** @param \Closure(Service, \Closure(int): void, \Closure(): bool): void $serve runs a server: tells its port, and ends when it is to */
function beside_postgres(\Closure $serve): void
{
    $connect = static fn (): \PDO => new \PDO(sprintf('pgsql:host=%s;port=%s;dbname=%s', getenv('SPINDLE_PG_HOST'),
        getenv('SPINDLE_PG_PORT'), getenv('SPINDLE_PG_DB') ?: 'postgres'), getenv('SPINDLE_PG_USER'), getenv('SPINDLE_PG_PASSWORD'));
    $holder = $connect();
    $holder->query('select pg_advisory_lock(7)');
    $locker = spawn(static function () use ($connect): string {
        $connection = $connect();
        $connection->query('select pg_advisory_lock(7)');
        $connection->query('select pg_advisory_unlock(7)');
        return 'locked';
    });
    $service = new Service($locker);
    spawn(static function () use ($service, $holder): void {
        $service->releases->recv();
        $holder->query('select pg_advisory_unlock(7)');
    });
    $port = new Channel(1);
    $isOver = false;
    $client = spawn(static function () use ($port, $connect, &$isOver): array {
        $watcher = $connect();
        while (!$watcher->query("select count(*) from pg_locks where locktype = 'advisory' and not granted")->fetchColumn()) {
        }
        $clients = [];
        $number = $port->recv();
        for ($i = 0; $i < 3; $i++) {
            $clients[] = stream_socket_client("tcp://127.0.0.1:$number");
        }
        $answers = [];
        foreach (['one', 'two', 'three', 'release', 'four'] as $line) {
            foreach ($clients as $client) {
                fwrite($client, "$line\n");
            }
            foreach ($clients as $client) {
                $answers[$line][] = rtrim((string) fgets($client));
            }
        }
        $isOver = true;
        array_map(fclose(...), $clients);
        fclose(stream_socket_client("tcp://127.0.0.1:$number")); // the server looks whether it is over
        return $answers;
    });
    $serve($service, static fn (int $number) => $port->send($number), static function () use (&$isOver): bool { return $isOver; });
    foreach (await($client) as $line => $answers) {
        echo "$line: ", implode(', ', $answers), "\n";
    }
}

const EXPECTED = "one: ONE, ONE, ONE\ntwo: TWO, TWO, TWO\nthree: THREE, THREE, THREE\nrelease: locked, locked, locked\n"
    . "four: FOUR too late, FOUR too late, FOUR too late\n";
