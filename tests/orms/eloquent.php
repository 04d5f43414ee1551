<?php

declare(strict_types=1);

namespace Orms;

require_once 'Illuminate/Database/autoload.php';
require_once 'Illuminate/Events/autoload.php';

use Illuminate\Container\Container;
use Illuminate\Database\Capsule\Manager;
use Illuminate\Database\Connection;
use Illuminate\Database\DatabaseTransactionsManager;
use Illuminate\Events\Dispatcher;

/** Returns a manager with a connection of this configuration. */
function manager(array $more = [], bool $isPooled = true): Manager
{
    [$host, $port, $user, $password, $name] = server();
    $container = new Container();
    $container->singleton('db.transactions', static fn () => new DatabaseTransactionsManager());
    $isPooled && \Spindle\Eloquent\PoolServiceProvider::install($container);
    $manager = new Manager($container);
    $manager->setEventDispatcher(new Dispatcher($container));
    // Laravel 11 knows MariaDB by name.
    $driver = KIND === 'mysql' && class_exists(\Illuminate\Database\MariaDbConnection::class) ? 'mariadb' : KIND;
    $manager->addConnection($more + ['driver' => $driver, 'host' => $host, 'port' => $port, 'username' => $user, 'password' => $password, 'database' => $name,
        'charset' => KIND === 'pgsql' ? 'utf8' : 'utf8mb4', 'pool' => ['max' => MAX]] + (KIND === 'pgsql' ? ['search_path' => 'public', 'schema' => 'public'] : ['strict' => true]));
    return $manager;
}

final class Eloquent implements Library
{
    public function __construct(public readonly Connection $db) {}

    public function transaction(\Closure $body): mixed
    {
        return $this->db->transaction($body);
    }

    public function begin(): void
    {
        $this->db->beginTransaction();
    }

    public function rollBack(): void
    {
        $this->db->rollBack();
    }

    public function insert(int $n): void
    {
        $this->db->table('done')->insert(['n' => $n]);
    }

    public function count(int $n): int
    {
        return $this->db->table('done')->where('n', $n)->count();
    }

    public function level(): int
    {
        return $this->db->transactionLevel();
    }
}
