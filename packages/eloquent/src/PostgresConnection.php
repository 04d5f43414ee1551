<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

final class PostgresConnection extends \Illuminate\Database\PostgresConnection
{
    use OwnTransactions;
}
