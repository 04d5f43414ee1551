<?php

namespace App;

/** Numbers what is logged, since the logger was reset. */
final class CountingProcessor implements \Monolog\Processor\ProcessorInterface, \Monolog\ResettableInterface
{
    private int $records = 0;

    public function __invoke($record) // an array, or an object since Monolog 3
    {
        $record['extra'] += ['record' => ++$this->records];
        return $record;
    }

    public function reset(): void
    {
        $this->records = 0;
    }
}
