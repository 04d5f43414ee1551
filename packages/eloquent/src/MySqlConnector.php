<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

final class MySqlConnector extends \Illuminate\Database\Connectors\MySqlConnector
{
    use OpensPool;
}
