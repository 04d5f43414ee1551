<?php

namespace App\Jobs;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;

final class Remember implements ShouldQueue
{
    use Dispatchable, InteractsWithQueue, Queueable;

    public static ?string $handled = null;

    public function __construct(private string $for) {}

    public function handle(): void
    {
        pause();
        self::$handled = $this->for;
    }
}
