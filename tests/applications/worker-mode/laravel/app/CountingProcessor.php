<?php

namespace App;

/** Numbers what is logged, since the logger was reset. */
final class CountingProcessor implements \Monolog\Processor\ProcessorInterface, \Monolog\ResettableInterface
{
    private int $records = 0;

    public function __invoke(array $record): array
    {
        return ['extra' => ['record' => ++$this->records]] + $record;
    }

    public function reset(): void
    {
        $this->records = 0;
    }
}
