<?php
namespace Compositions\Feature\Shared;

final class Number
{
    public const TWO = 2;
}
