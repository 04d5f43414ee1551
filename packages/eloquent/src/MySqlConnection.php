<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

final class MySqlConnection extends \Illuminate\Database\MySqlConnection
{
    use OwnTransactions;
}
