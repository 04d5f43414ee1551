<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

use Illuminate\Database\Connection;

use function Async\localContext;

/**
 * Says to a connector for which connection it opens a pool: Laravel does not.
 *
 * @internal
 */
final class Opening
{
    /** Returns the connection for which the running coroutine opens a pool; null if somebody uses a connector otherwise. */
    public static function connection(): ?Connection
    {
        return localContext()->find(self::class);
    }
}
