<?php
namespace Compositions\Feature\Shared;

class Constants
{
    public const LIST = [Number::TWO, 3];
    public const SUM = Number::TWO + 3;
    public int $default = self::SUM * 2;
}
