<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

use Illuminate\Database\DatabaseTransactionsManager;
use Spindle\Pooled\OwnByCoroutine;

/** Knows what is to be called after the commit of each coroutine's own transactions. */
final class TransactionsManager extends DatabaseTransactionsManager
{
    use OwnByCoroutine;

    public function __construct()
    {
        parent::__construct();
        $all = (new \ReflectionClass(DatabaseTransactionsManager::class))->getProperties();
        $this->ownByCoroutine(DatabaseTransactionsManager::class, \array_map(static fn (\ReflectionProperty $property) => $property->name, $all));
    }
}
