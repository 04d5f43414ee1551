<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

use Spindle\Pooled\Pools;

/**
 * What makes a connector of Laravel open a pool.
 *
 * The connector of Laravel says how a connection is opened, and which statements follow: it is given an object that remembers these.
 * The server then applies them to each connection of the pool as it is opened.
 */
trait OpensPool
{
    public function connect(array $config)
    {
        /** @var Unopened $unopened */
        $unopened = parent::connect($config);
        $connection = Opening::connection();
        if ($connection === null) {
            return $unopened->open();
        }
        [$dsn, $options] = $unopened->withSettings();
        return Pools::all()->for($connection, $dsn, $unopened->user, $unopened->password, $options, $config['pool'] ?? []);
    }

    protected function createPdoConnection($dsn, $username, #[\SensitiveParameter] $password, $options)
    {
        return new Unopened($dsn, (string) $username, (string) $password, $options);
    }
}
