<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

use Illuminate\Database\Connection;
use Spindle\Pooled\OwnByCoroutine;
use Spindle\Pooled\Pools;

use function Async\localContext;

/**
 * What makes a connection one that many coroutines may use at the same time: its transaction, the level of that, the log of its
 * queries and what else is about the last calls is each coroutine's own.
 */
trait OwnTransactions
{
    use OwnByCoroutine;

    private const STATE = ['pdo', 'readPdo', 'transactions', 'recordsModified', 'readOnWriteConnection', 'queryLog', 'totalQueryDuration',
        'pretending', 'latestPdoTypeRetrieved', 'lastInsertId'];

    /** Grammars have a copy of the prefix. */
    private const SETTINGS = ['loggingQueries', 'tablePrefix', 'queryGrammar', 'schemaGrammar'];

    public function __construct($pdo, $database = '', $tablePrefix = '', array $config = [])
    {
        parent::__construct($pdo, $database, $tablePrefix, $config);
        foreach (['pdo', 'readPdo', 'transactions'] as $name) {
            if (!\property_exists(Connection::class, $name)) {
                throw new \LogicException("This version of illuminate/database has no Connection::\$$name: use a later one of spindle/eloquent");
            }
        }
        $this->ownByCoroutine(parent::class, self::STATE, self::SETTINGS);
    }

    public function getPdo()
    {
        return $this->pdo instanceof \Closure ? $this->opening(fn () => parent::getPdo()) : parent::getPdo();
    }

    public function getReadPdo()
    {
        return $this->readPdo instanceof \Closure ? $this->opening(fn () => parent::getReadPdo()) : parent::getReadPdo();
    }

    /** Rolls back first: without a pool, a transaction ends with its connection. */
    public function setPdo($pdo)
    {
        $this->pdo === $pdo || Pools::all()->abandon($this);
        return parent::setPdo($pdo);
    }

    public function setReadPdo($pdo)
    {
        if ($pdo instanceof \Closure) {
            // What opens connections comes from the configuration: other coroutines begin with it, as with that of the constructor.
            $this->atFirst['readPdo'] = $pdo;
        }
        return parent::setReadPdo($pdo);
    }

    /** Calls what makes a connector open the pool of this object. */
    private function opening(\Closure $open): mixed
    {
        $context = localContext();
        $before = $context->find(Opening::class);
        $context->set(Opening::class, $this, replace: true);
        try {
            return $open();
        } finally {
            $context->set(Opening::class, $before, replace: true);
        }
    }
}
