<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

final class MariaDbConnection extends \Illuminate\Database\MariaDbConnection
{
    use OwnTransactions;
}
