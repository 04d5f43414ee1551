<?php

namespace App\Console;

final class Kernel extends \Illuminate\Foundation\Console\Kernel
{
    protected function commands(): void
    {
        require base_path('routes/console.php');
    }
}
