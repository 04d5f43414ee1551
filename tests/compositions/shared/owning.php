<?php
namespace Compositions\Feature\Shared;

trait Owning
{
    protected function own(): int { \Compositions\pause(); return 7; }
}
