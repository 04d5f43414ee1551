<?php

declare(strict_types=1);

namespace Orms;

require_once 'Doctrine/DBAL/autoload.php';

use Doctrine\DBAL\Configuration;
use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;

/** Returns the parameters of a connection, with those that are given. */
function params(array $more = []): array
{
    [$host, $port, $user, $password, $name] = server();
    return $more + ['driver' => 'pdo_' . KIND, 'host' => $host, 'port' => (int) $port, 'user' => $user, 'password' => $password, 'dbname' => $name,
        'charset' => KIND === 'pgsql' ? 'utf8' : 'utf8mb4', 'wrapperClass' => \Spindle\Doctrine\Connection::class, 'driverOptions' => ['pool' => ['max' => MAX]]];
}

function connection(array $more = [], ?Configuration $configuration = null): Connection
{
    $connection = DriverManager::getConnection(params($more), $configuration);
    $connection->setNestTransactionsWithSavepoints(true);
    return $connection;
}

final class Dbal implements Library
{
    public function __construct(public readonly Connection $db) {}

    public function transaction(\Closure $body): mixed
    {
        return $this->db->transactional($body);
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
        $this->db->insert('done', ['n' => $n]);
    }

    public function count(int $n): int
    {
        return (int) $this->db->fetchOne('select count(*) from done where n = ?', [$n]);
    }

    public function level(): int
    {
        return $this->db->getTransactionNestingLevel();
    }
}
