<?php

declare(strict_types=1);

namespace Spindle\Laravel\Queue;

/** What became of one worker. */
final class Course
{
    /** It has been booted. */
    public bool $isReady = false;
    /** It has ended as it should: it was told to, or one of its limits has been reached. */
    public bool $isOver = false;
    /** Why it has ended before. */
    public ?string $why = null;
}
