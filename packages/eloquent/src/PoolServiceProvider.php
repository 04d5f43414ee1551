<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

use Illuminate\Contracts\Container\Container;
use Illuminate\Database\Connection;
use Illuminate\Support\ServiceProvider;

/** Makes the connections of PostgreSQL, MySQL and MariaDB such that coroutines can share them. Laravel finds it by itself. */
final class PoolServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        self::install($this->app);
    }

    /** Does the same without Laravel: `install($capsule->getContainer())`, before the first connection is used. */
    public static function install(Container $container): void
    {
        $drivers = ['pgsql' => [PostgresConnection::class, PostgresConnector::class], 'mysql' => [MySqlConnection::class, MySqlConnector::class]];
        if (\class_exists(\Illuminate\Database\MariaDbConnection::class)) { // Laravel 11
            $drivers['mariadb'] = [MariaDbConnection::class, MariaDbConnector::class];
        }
        foreach ($drivers as $driver => [$connection, $connector]) {
            Connection::resolverFor($driver, static fn (mixed ...$arguments) => new $connection(...$arguments));
            $container->bind("db.connector.$driver", $connector);
        }
        // Whoever binds it, before or later: what waits for a commit is each coroutine's own.
        $container->extend('db.transactions', static fn () => new TransactionsManager());
    }
}
