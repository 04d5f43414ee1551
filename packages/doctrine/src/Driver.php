<?php

declare(strict_types=1);

namespace Spindle\Doctrine;

use Doctrine\DBAL\Configuration;
use Doctrine\DBAL\Connection as BaseConnection;
use Doctrine\DBAL\Driver as BaseDriver;
use Doctrine\DBAL\Driver\Connection as DriverConnection;
use Doctrine\DBAL\Driver\Middleware\AbstractDriverMiddleware;
use Doctrine\DBAL\Driver\PDO;
use Doctrine\DBAL\Driver\SQLite3;
use Spindle\Pooled\Pools;

use function Async\currentCoroutine;

/**
 * A driver whose connections are the pools of the process. It takes the place of DBAL's `pdo_pgsql` and `pdo_mysql`. Those of
 * SQLite are as they are, but for databases in memory, which a second coroutine would find empty.
 *
 * @internal
 */
final class Driver extends AbstractDriverMiddleware
{
    private const DRIVERS = ['pdo_pgsql' => PDO\PgSQL\Driver::class, 'pdo_mysql' => PDO\MySQL\Driver::class,
        'pdo_sqlite' => PDO\SQLite\Driver::class, 'sqlite3' => SQLite3\Driver::class];

    /** Drivers whose database may be in memory. Each coroutine opens a file for itself. */
    private const IN_MEMORY = [PDO\SQLite\Driver::class => true, SQLite3\Driver::class => true];

    /** What the drivers have in their names of a data source, as they call it; what PDO calls it is written where it differs. */
    private const IN_DSN = [
        PDO\PgSQL\Driver::class => ['host', 'port', 'dbname', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslcrl', 'application_name',
            'gssencmode', 'charset' => 'client_encoding'],
        PDO\MySQL\Driver::class => ['host', 'port', 'dbname', 'unix_socket', 'charset'],
    ];

    /** The coroutine that has the database in memory. */
    private ?int $user = null;

    /** @param \WeakReference<BaseConnection> $connection */
    private function __construct(private readonly BaseDriver $driver, private readonly \WeakReference $connection)
    {
        parent::__construct($driver);
    }

    /**
     * Returns the driver for a connection, in its middlewares; null if it is one that has no pools.
     *
     * The middlewares are applied anew: this driver has to be the innermost, because it opens connections itself.
     */
    public static function for(BaseConnection $connection, #[\SensitiveParameter] array $params, ?Configuration $config): ?BaseDriver
    {
        $class = $params['driverClass'] ?? self::DRIVERS[$params['driver'] ?? ''] ?? '';
        if (!isset(self::IN_DSN[$class]) && !isset(self::IN_MEMORY[$class])) {
            return null;
        }
        $driver = new self(new $class(), \WeakReference::create($connection));
        foreach ($config?->getMiddlewares() ?? [] as $middleware) {
            $driver = $middleware->wrap($driver);
        }
        return $driver;
    }

    public function connect(#[\SensitiveParameter] array $params): DriverConnection
    {
        if (!isset(self::IN_DSN[$this->driver::class])) {
            if (!empty($params['memory']) || ($params['path'] ?? '') === ':memory:') {
                $this->user ??= currentCoroutine()->getId();
                $this->user === currentCoroutine()->getId() || throw new \LogicException(
                    'A database of SQLite in memory is there for one connection, and so for one coroutine: use a file');
            }
            return parent::connect($params);
        }
        $options = $params['driverOptions'] ?? [];
        $settings = $options['pool'] ?? [];
        unset($options['pool']);
        if ($this->driver instanceof PDO\PgSQL\Driver) {
            $options += [\PDO::PGSQL_ATTR_DISABLE_PREPARES => true];
        }
        try {
            $pool = Pools::all()->for($this->connection->get(), $this->dsn($params), $params['user'] ?? '', $params['password'] ?? '', $options, $settings);
        } catch (\PDOException $e) {
            throw PDO\Exception::new($e);
        }
        return new PDO\Connection($pool);
    }

    private function dsn(#[\SensitiveParameter] array $params): string
    {
        $isPostgres = $this->driver instanceof PDO\PgSQL\Driver;
        if ($isPostgres && !isset($params['dbname'])) {
            // As DBAL 3 does; with DBAL 4 the server has the last word.
            $params['dbname'] = $params['default_dbname'] ?? (\method_exists(BaseConnection::class, 'getEventManager') ? 'postgres' : null);
        }
        $dsn = $isPostgres ? 'pgsql:' : 'mysql:';
        foreach (self::IN_DSN[$this->driver::class] as $key => $name) {
            $value = $params[\is_string($key) ? $key : $name] ?? '';
            $dsn .= $value === '' ? '' : "$name=$value;";
        }
        return $dsn;
    }
}
