<?php

declare(strict_types=1);

namespace Spindle\Pooled;

use Async\PooledPDO;

use function Async\currentCoroutine;
use function Async\delay;
use function Async\localContext;

/**
 * The pools of this process. They are made when they are first needed. Those that were used last stay until its end; others are closed when
 * no coroutine has an open connection object with them any more.
 *
 * A coroutine has one transaction in a pool. So that it may have several connection objects, of which one is in a transaction that is
 * not that of the others, there is a pool for each object that it uses at the same time: all first ones share a pool, all second
 * ones another one.
 */
final class Pools
{
    /** What a connection's configuration may say of its pool: the parameters of PooledPDO that are numbers. */
    private const SETTINGS = ['max', 'min', 'healthcheckInterval', 'idleTime'];

    /** A constant: static properties are each instance's own, constants are the process's. */
    private const ALL = __CLASS__ . '\ALL';

    /** How many stay: an application with a database for each of its tenants would have more connections than servers allow. */
    private const KEPT = 32;

    /** @var array<string, PooledPDO> those that stay, in the order in which they were asked for */
    private array $kept = [];

    /** @var array<string, \WeakReference<PooledPDO>> all, so that there are never two for one key */
    private array $pools = [];

    /** @var array<string, \Async\Coroutine<mixed>> that are opening a first connection */
    private array $openers = [];

    /** @var array<string, string> what servers have said that they are, by where they are */
    private array $versions = [];

    private function __construct() {}

    public static function all(): self
    {
        \defined(self::ALL) || \define(self::ALL, new self());
        return \constant(self::ALL);
    }

    /**
     * Returns the pool that a connection object uses in the running coroutine.
     *
     * @param object $connection the object, of which a coroutine may have several
     * @param array<int, mixed> $options of PDO
     * @param array<string, int>|PooledPDO $settings its `max` and other numbers; or the pool itself
     * @throws \PDOException if it is a new pool, and there is no connection
     */
    public function for(object $connection, string $dsn, string $user, #[\SensitiveParameter] string $password, array $options,
        array|PooledPDO $settings): PooledPDO
    {
        if ($settings instanceof PooledPDO) {
            $uses = $this->used()['given ' . \spl_object_id($settings)] ??= new Uses();
            if ($uses->number($connection) > 0) {
                throw new \LogicException('Two connection objects in one coroutine cannot use the same PooledPDO: they would be in one transaction');
            }
            $uses->use(0, $settings);
            return $settings;
        }
        if ($unknown = \array_diff(\array_keys($settings), self::SETTINGS)) {
            throw new \LogicException('The pool of a connection has no setting "' . \reset($unknown) . '", only ' . \implode(', ', self::SETTINGS));
        }
        unset($options[\PDO::ATTR_PERSISTENT]); // the pool keeps the connections
        $key = \hash('sha256', \serialize([$dsn, $user, $password, $options, $settings]));
        $uses = $this->used()[$key] ??= new Uses();
        $number = $uses->number($connection);
        if ($number > 0 && $this->find("$key $number") === null) {
            // Before there is one more pool: are the other objects still used, or do they wait for the cycle collector?
            $uses->forget($connection);
            \gc_collect_cycles();
            $number = $uses->number($connection);
        }
        $key = "$key $number";
        $pool = $this->find($key)
            ?? $this->once($key, fn () => $this->find($key) ?? $this->add($key, new PooledPDO($dsn, $user, $password, $options, ...$settings)));
        unset($this->kept[$key]);
        $this->kept[$key] = $pool; // as the last one
        if (\count($this->kept) > self::KEPT) {
            unset($this->kept[\array_key_first($this->kept)]); // it stays while a coroutine uses it
        }
        $uses->use($number, $pool);
        return $pool;
    }

    private function find(string $key): ?PooledPDO
    {
        return ($this->pools[$key] ?? null)?->get();
    }

    private function add(string $key, PooledPDO $pool): PooledPDO
    {
        $this->pools = \array_filter($this->pools, static fn (\WeakReference $other) => $other->get() !== null);
        $this->pools[$key] = \WeakReference::create($pool);
        return $pool;
    }

    /** Returns `true` if the running coroutine is in a transaction. */
    public function isInTransaction(): bool
    {
        foreach ($this->used() as $uses) {
            if ($uses->isInTransaction()) {
                return true;
            }
        }
        return false;
    }

    /** Rolls back what the running coroutine has not committed with a connection object, which is about to forget it. */
    public function abandon(object $connection): void
    {
        foreach ($this->used() as $uses) {
            $uses->pool($connection)?->inTransaction() && self::rollBack($uses->pool($connection));
        }
    }

    /** Returns the version of a server, which is asked once. */
    public function version(string $dsn, string $user, #[\SensitiveParameter] string $password, array $options): string
    {
        return $this->versions["$dsn $user"] ?? $this->once("version $dsn $user", fn () => $this->versions["$dsn $user"]
            ??= (new \PDO($dsn, $user, $password, $options))->getAttribute(\PDO::ATTR_SERVER_VERSION));
    }

    /** @internal Ends the transaction of the running coroutine in a pool, if it can. */
    public static function rollBack(PooledPDO $pool): void
    {
        try {
            $pool->rollBack();
        } catch (\PDOException) {
            // The connection is lost, and the transaction with it.
        }
    }

    /** What the running coroutine uses. @return \ArrayObject<string, Uses> */
    private function used(): \ArrayObject
    {
        $context = localContext();
        return $context->find($this) ?? $context->set($this, new \ArrayObject())->get($this);
    }

    /**
     * Calls what opens a connection, but not while another coroutine does so for the same key.
     *
     * @template T
     * @param \Closure(): T $open looks first whether the other one has done it
     * @return T
     */
    private function once(string $key, \Closure $open): mixed
    {
        while (isset($this->openers[$key]) && !$this->openers[$key]->isCompleted()) {
            delay(1);
        }
        $this->openers[$key] = currentCoroutine();
        try {
            return $open();
        } finally {
            unset($this->openers[$key]);
        }
    }
}
