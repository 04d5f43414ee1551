<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

final class PostgresConnector extends \Illuminate\Database\Connectors\PostgresConnector
{
    use OpensPool;
}
