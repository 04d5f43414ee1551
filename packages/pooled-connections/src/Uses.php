<?php

declare(strict_types=1);

namespace Spindle\Pooled;

use Async\PooledPDO;

/**
 * The connection objects of one coroutine that have the same configuration, and the pool of each.
 *
 * @internal
 */
final class Uses
{
    /** @var array<int, \WeakReference<object>> */
    private array $connections = [];

    /** @var array<int, \WeakReference<PooledPDO>> the objects keep them */
    private array $pools = [];

    /** Returns the number of an object. One that is new gets the first that no object has that still exists. */
    public function number(object $connection): int
    {
        foreach ($this->connections as $number => $other) {
            if ($other->get() === $connection) {
                return $number;
            }
        }
        for ($free = 0; ($this->connections[$free] ?? null)?->get() !== null; $free++);
        // Without a pool, the transaction of an object ends with it.
        $pool = ($this->pools[$free] ?? null)?->get();
        $pool?->inTransaction() && Pools::rollBack($pool);
        $this->connections[$free] = \WeakReference::create($connection);
        return $free;
    }

    /** Says which pool an object uses, by its number. */
    public function use(int $number, PooledPDO $pool): void
    {
        $this->pools[$number] = \WeakReference::create($pool);
    }

    public function isInTransaction(): bool
    {
        foreach ($this->pools as $pool) {
            if ($pool->get()?->inTransaction()) {
                return true;
            }
        }
        return false;
    }

    public function forget(object $connection): void
    {
        $this->connections = \array_filter($this->connections, static fn (\WeakReference $other) => $other->get() !== $connection);
    }

    /** Returns the pool of an object, if it has one. */
    public function pool(object $connection): ?PooledPDO
    {
        foreach ($this->connections as $number => $other) {
            if ($other->get() === $connection) {
                return ($this->pools[$number] ?? null)?->get();
            }
        }
        return null;
    }
}
