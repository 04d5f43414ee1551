<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

/**
 * A statement of a connection that is not opened.
 *
 * @internal
 */
final class UnopenedStatement extends \PDOStatement
{
    /** @param \Closure(): mixed $remember */
    public function __construct(private readonly \Closure $remember) {}

    public function execute(?array $params = null): bool
    {
        $params === null ?: throw new \LogicException('spindle/eloquent does not know parameters of a statement that prepares a connection');
        ($this->remember)();
        return true;
    }
}
