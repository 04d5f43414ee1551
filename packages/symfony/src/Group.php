<?php

declare(strict_types=1);

namespace Spindle\Symfony;

/** What the workers of a process know of each other: plain values, as each has an application of its own. */
final class Group
{
    /** SIGINT, SIGQUIT and SIGTERM, whose names pcntl has. */
    public const SIGNALS = [2, 3, 15];

    public bool $isStopping = false;

    /** How many messages may still be asked for; null: any number. */
    public ?int $left = null;

    public int $failures = 0;

    public ?int $failureLimit = null;

    /** The first worker has read what is for the whole group. */
    public bool $isConfigured = false;

    /** @var array<string, array<string, int>> the names of workers, by transport, and whose they are */
    public array $consumers = [];

    /** @var array<string, true> what has been said of failures, which often are the same for all */
    public array $said = [];

    /** @param \Closure(): void $nothing does nothing, and belongs to no instance */
    public function __construct(public readonly int $size, public readonly \Closure $nothing) {}
}
