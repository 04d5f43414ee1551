<?php

namespace App\Http\Controllers;

final class Visits
{
    private int $visits = 0;

    public function __invoke(): int
    {
        return ++$this->visits;
    }
}
