<?php
namespace Compositions\Feature\Shared;

abstract class Root implements Marked
{
    public function up(\Compositions\Job $j, \Closure $a): array { return [static::class, $this->own(), $a($j)]; }
    abstract protected function own(): int;
}
