<?php

declare(strict_types=1);

namespace Spindle\Symfony;

use Symfony\Component\Console\Input\ArgvInput;

/** The arguments of a worker, in which those limits are not seen that the group keeps. */
final class WorkerInput extends ArgvInput
{
    private const GROUP = ['limit', 'failure-limit'];

    public function getOption(string $name): mixed
    {
        return \in_array($name, self::GROUP, true) ? null : parent::getOption($name);
    }

    /** Returns a limit of the group, a positive number. */
    public function limit(string $name): ?int
    {
        $limit = parent::getOption($name);
        if ($limit !== null && (!\is_numeric($limit) || $limit < 1)) {
            throw new \InvalidArgumentException("The option --$name takes a number of messages, and not '$limit'");
        }
        return $limit === null ? null : (int) $limit;
    }
}
