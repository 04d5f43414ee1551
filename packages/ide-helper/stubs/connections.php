<?php

// Made by scripts/gen-api from stubs/connections.stub.php. Not to be loaded: the extension has these.

/**
 * Objects that are used like one connection, and use one of a pool for each coroutine. Their methods are those of their parents, whose
 * extensions have to be loaded.
 */

namespace Async {
    if (\class_exists(\PDO::class, false)) {
        /**
         * A PDO for all coroutines. Each coroutine that calls a method has a connection of its own for the call, and then as long as it
         * holds a statement or is in a transaction.
         */
        class PooledPDO extends \PDO
        {
            /**
             * The connections.
             *
             * @var Pool<\PDO>
             */
            public readonly Pool $pool;

            /**
             * Opens one connection, and later more.
             *
             * @param null|callable(\PDO): mixed $reset called with a connection that another coroutine has used; false: it is closed
             * @param int $max how many connections there are at most
             * @param int $min how many are opened at once, and kept by $idleTime
             * @param int $healthcheckInterval ms for which a connection has to be free before it is checked; 0: never
             * @param int $idleTime ms after which a free connection is closed; 0: never
             * @throws \PDOException if there is no connection
             * @throws \ValueError if a number is wrong, or $options has PDO::ATTR_PERSISTENT
             */
            public function __construct(string $dsn, ?string $username = null, #[\SensitiveParameter] ?string $password = null, ?array $options = null, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null) {}

            /** Calls a method of the driver, such as sqliteCreateFunction(). */
            public function __call(string $name, array $arguments): mixed {}
        }

        /** The class of the connections of a PooledPDO or of Pool::pdo(). */
        final class PooledPDOConnection extends \PDO
        {
            public function __destruct() {}
        }
    }

    if (\class_exists(\Redis::class, false)) {
        /**
         * A Redis for all coroutines. Each coroutine that calls a method has a connection of its own for the call, and then until it has
         * ended what multi(), pipeline() or watch() has begun.
         */
        class PooledRedis extends \Redis
        {
            /**
             * The connections.
             *
             * @var Pool<\Redis>
             */
            public readonly Pool $pool;

            /**
             * Opens one connection, and later more.
             *
             * @param mixed $auth as for Redis::auth(); null: none
             * @param null|callable(\Redis): mixed $reset called with a connection that another coroutine has used; false: it is closed
             * @param int $max how many connections there are at most
             * @param int $min how many are opened at once, and kept by $idleTime
             * @param int $healthcheckInterval ms for which a connection has to be free before it is checked; 0: never
             * @param int $idleTime ms after which a free connection is closed; 0: never
             * @throws \RedisException if there is no connection
             */
            public function __construct(string $host = '127.0.0.1', int $port = 6379, float $timeout = 0.0, #[\SensitiveParameter] mixed $auth = null, int $database = 0, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null) {}

            public function __call(string $name, array $arguments): mixed {}
        }

        /** The class of the connections of a PooledRedis or of Pool::redis(). */
        final class PooledRedisConnection extends \Redis
        {
            public function __destruct() {}
        }
    }

    if (\class_exists(\mysqli::class, false)) {
        /**
         * A mysqli for all coroutines. Each coroutine that calls a method has a connection of its own for the call, and then as long as
         * it holds a statement or an unbuffered result, or is in a transaction. Functions such as mysqli_query() take it as well.
         */
        class PooledMysqli extends \mysqli
        {
            /**
             * The connections.
             *
             * @var Pool<\mysqli>
             */
            public readonly Pool $pool;

            /**
             * Opens one connection, and later more.
             *
             * @param null|callable(\mysqli): mixed $reset called with a connection that another coroutine has used; false: it is closed
             * @param int $max how many connections there are at most
             * @param int $min how many are opened at once, and kept by $idleTime
             * @param int $healthcheckInterval ms for which a connection has to be free before it is checked; 0: never
             * @param int $idleTime ms after which a free connection is closed; 0: never
             * @throws \mysqli_sql_exception if there is no connection
             * @throws AsyncException if there is none, and mysqli_report() has switched exceptions off
             * @throws \ValueError if a number is wrong, or $hostname begins with "p:"
             */
            public function __construct(?string $hostname = null, ?string $username = null, #[\SensitiveParameter] ?string $password = null, ?string $database = null, ?int $port = null, ?string $socket = null, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null) {}
        }

        /** The class of the connections of a PooledMysqli or of Pool::mysqli(). */
        final class PooledMysqliConnection extends \mysqli
        {
            public function __destruct() {}
        }
    }
}
