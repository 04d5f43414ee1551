<?php

namespace App\Providers;

use App\Counter;
use Illuminate\Support\Facades\{Cache, DB, Log, Redis};

final class AppServiceProvider extends \Illuminate\Support\ServiceProvider
{
    public function register(): void
    {
        $this->app->singleton('counter.singleton', static fn () => new Counter());
        $this->app->scoped('counter.scoped', static fn () => new Counter());
        $this->app->singleton('counter.flushed', static fn () => new Counter());
    }

    public function boot(): void
    {
        // These are made in the boot, and so kept, but for what is given up or made anew for each request.
        $this->app->make('counter.scoped');
        $this->app->make('counter.flushed');
        auth()->extend('other', static fn () => new \App\OtherGuard());
        auth()->guard('other');
        $this->app->make('auth.driver');
        session()->driver();
        $this->app->instance('booted.connection', DB::connection());
        DB::select('select 1');
        Cache::store('array');
        Log::channel('booted');
        env('REDIS_PORT') && env('REDIS_IN_BOOT', true) && Redis::connection('booted')->client()->ping();
    }
}
