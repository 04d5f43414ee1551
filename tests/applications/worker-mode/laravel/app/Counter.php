<?php

namespace App;

final class Counter
{
    public function __construct(public int $count = 0) {}
}
