<?php

declare(strict_types=1);

namespace Spindle\Laravel;

use Async\PooledRedis;
use Illuminate\Database\Connection;
use Illuminate\Foundation\Application;

/**
 * What is open to databases and Redis. A request begins without an open connection to a database, as with php-fpm: settings, temporary
 * tables and locks belong to the session. With spindle/eloquent a pool keeps the connections, and they are not closed here.
 */
final class Connections
{
    /** @var list<array{\Redis, int, array<int, mixed>}> those that the boot has opened, the number of the database, and options */
    private readonly array $redis;
    /** @var list<\Illuminate\Redis\Connections\Connection> those with another client, which opens a connection when it is used */
    private readonly array $others;

    /** Called at the end of the boot. */
    public function __construct(private readonly Application $app)
    {
        foreach ($this->databases() as $name => $connection) {
            if (self::isOpen($connection)) {
                // It opens another one when it is used.
                $app->make('db')->reconnect($name);
            }
        }
        $redis = $others = [];
        foreach ($app->resolved('redis') ? $app->make('redis')->connections() ?? [] : [] as $connection) {
            $client = $connection->client();
            if ($client instanceof PooledRedis) {
                // What a coroutine leaves, the pool undoes.
            } elseif ($client instanceof \Redis) {
                $redis[] = [$client, $client->getDbNum(), self::options($client)];
            } else {
                $others[] = $connection;
            }
        }
        [$this->redis, $this->others] = [$redis, $others];
    }

    /** Rolls back what a request has left open, and closes what it has opened. */
    public function close(): void
    {
        foreach ($this->databases() as $name => $connection) {
            $pdo = $connection->getRawPdo();
            if ($connection->transactionLevel() > 0 || ($pdo instanceof \PDO && $pdo->inTransaction())) {
                $this->app->make('log')->warning("A request has left a transaction open on the connection $name: it is rolled back");
                try {
                    $connection->transactionLevel() > 0 ? $connection->rollBack(0) : $pdo->rollBack();
                } catch (\Throwable) {
                    // The connection is lost, and the transaction with it.
                }
            }
            self::isOpen($connection) && $connection->disconnect();
        }
    }

    /** Has the connections of Redis that the boot has opened as they were then. @return bool false if one cannot be */
    public function restore(): bool
    {
        try {
            foreach ($this->redis as [$client, $database, $options]) {
                $client->getMode() === \Redis::ATOMIC || $client->discard();
                foreach ($options as $option => $value) {
                    $client->getOption($option) === $value || $client->setOption($option, $value);
                }
                // Also what the client does not know of: that keys are watched, or another database by a raw command.
                $client->unwatch() && $client->select($database) || throw new \RedisException((string) $client->getLastError());
            }
            foreach ($this->others as $connection) {
                $connection->disconnect();
            }
            return true;
        } catch (\RedisException | \RuntimeException $failure) {
            $this->app->make('log')->warning("A connection of Redis cannot be used after a request, and the application is booted anew: {$failure->getMessage()}");
            return false;
        }
    }

    /** @return array<string, Connection> */
    private function databases(): array
    {
        // Not every application has the provider.
        $all = $this->app->resolved('db') ? $this->app->make('db')->getConnections() : [];
        return array_filter($all, static fn (object $connection) => $connection instanceof Connection);
    }

    private static function isOpen(Connection $connection): bool
    {
        return $connection->getRawPdo() instanceof \PDO || $connection->getRawReadPdo() instanceof \PDO;
    }

    /** @return array<int, mixed> */
    private static function options(\Redis $client): array
    {
        $options = [];
        foreach (['PREFIX', 'SERIALIZER', 'COMPRESSION', 'COMPRESSION_LEVEL', 'SCAN', 'READ_TIMEOUT', 'REPLY_LITERAL', 'NULL_MULTIBULK_AS_NULL'] as $name) {
            if (defined("Redis::OPT_$name")) {
                $options[$option = constant("Redis::OPT_$name")] = $client->getOption($option);
            }
        }
        return $options;
    }
}
