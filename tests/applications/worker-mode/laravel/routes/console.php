<?php

use App\Jobs\Numbered;
use Illuminate\Support\Facades\{Artisan, DB};

Artisan::command('push {do} {count=1} {first=1}', function (): void {
    for ($n = (int) $this->argument('first'), $end = $n + $this->argument('count'); $n < $end; $n++) {
        dispatch((new Numbered($n, $this->argument('do')))->onConnection(env('WORK_CONNECTION', 'database')));
    }
});
Artisan::command('handled', function (): void {
    $this->line(json_encode([DB::table('handled')->orderBy('id')->get(), DB::table('jobs')->count(), DB::table('failed_jobs')->count()]));
    DB::table('handled')->delete();
    DB::table('jobs')->delete();
    DB::table('failed_jobs')->delete();
});
