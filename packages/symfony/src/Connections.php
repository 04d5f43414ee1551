<?php

declare(strict_types=1);

namespace Spindle\Symfony;

use Doctrine\DBAL\Connection;
use Symfony\Component\HttpKernel\HttpCache\HttpCache;
use Symfony\Component\HttpKernel\KernelInterface;

/**
 * The connections of Doctrine DBAL that a kernel's container has made. They are closed when a request has ended, as the end of the process
 * closes them with PHP-FPM: what it has left in one, such as a transaction, a lock, or a temporary table, is not for the next request.
 */
final class Connections
{
    public static function close(?object $kernel): void
    {
        if ($kernel instanceof HttpCache) {
            $kernel = $kernel->getKernel();
        }
        if (!$kernel instanceof KernelInterface) {
            return;
        }
        try {
            $container = $kernel->getContainer();
        } catch (\LogicException) {
            return; // the request has shut the kernel down, and with it what it had
        }
        // DoctrineBundle has them there, by their names.
        foreach ($container->hasParameter('doctrine.connections') ? $container->getParameter('doctrine.connections') : [] as $name => $id) {
            $connection = $container->initialized($id) ? $container->get($id) : null;
            if ($connection instanceof Connection) {
                self::rollBack($connection, $name);
                $connection->close();
            }
        }
    }

    /** Rolls back what is open. Closing does not, while something else has the connection of the driver, such as a statement. */
    private static function rollBack(Connection $connection, string $name): void
    {
        $level = $connection->getTransactionNestingLevel();
        // One that does not commit automatically always is in a transaction.
        if ($level > ($connection->isAutoCommit() ? 0 : 1)) {
            \error_log("A request has left a transaction open on the connection $name: it is rolled back");
        }
        try {
            for (; $level > 0; $level--) {
                $connection->rollBack();
            }
        } catch (\Throwable) {
            // The connection is lost, and the transaction with it.
        }
    }
}
