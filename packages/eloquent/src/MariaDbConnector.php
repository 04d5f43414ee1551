<?php

declare(strict_types=1);

namespace Spindle\Eloquent;

final class MariaDbConnector extends \Illuminate\Database\Connectors\MariaDbConnector
{
    use OpensPool;
}
