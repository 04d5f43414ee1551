<?php

declare(strict_types=1);

namespace Spindle\Doctrine;

use Doctrine\DBAL\Configuration;
use Doctrine\DBAL\Connection as BaseConnection;
use Doctrine\DBAL\Driver as BaseDriver;
use Spindle\Pooled\OwnByCoroutine;
use Spindle\Pooled\Pools;

/**
 * A connection that many coroutines may use at the same time: the connection of the driver, the transaction, its level and whether
 * it can only be rolled back are each coroutine's own. Those of `pdo_pgsql` and `pdo_mysql` are taken from a pool.
 *
 * It is the `wrapperClass` of a connection's parameters. `driverOptions['pool']` says how large the pool is.
 */
class Connection extends BaseConnection
{
    use OwnByCoroutine;

    /** Where DBAL keeps what belongs to a transaction. All versions have these. */
    private const STATE = ['_conn', 'transactionNestingLevel', 'isRollbackOnly', 'autoCommit'];

    /** @param mixed ...$more DBAL 3 passes an event manager */
    public function __construct(#[\SensitiveParameter] array $params, BaseDriver $driver, ?Configuration $config = null, mixed ...$more)
    {
        foreach (self::STATE as $name) {
            if (!\property_exists(BaseConnection::class, $name)) {
                throw new \LogicException("This version of doctrine/dbal has no Connection::\$$name: use a later one of spindle/doctrine");
            }
        }
        parent::__construct($params, Driver::for($this, $params, $config) ?? $driver, $config, ...$more);
        // DBAL 3 changes the parameters while it asks for the server's version.
        $this->ownByCoroutine(BaseConnection::class, ['_conn', 'params', 'transactionNestingLevel', 'isRollbackOnly', 'transactionIsolationLevel'],
            ['autoCommit', 'nestTransactionsWithSavepoints']);
    }

    /** Rolls back, as the end of a connection does, and forgets the connection: that of the pool stays open. */
    public function close(): void
    {
        Pools::all()->abandon($this);
        parent::close();
    }
}
