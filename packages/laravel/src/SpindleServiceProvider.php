<?php

declare(strict_types=1);

namespace Spindle\Laravel;

use Illuminate\Support\ServiceProvider;

/** Adds the commands to artisan. */
final class SpindleServiceProvider extends ServiceProvider
{
    public function boot(): void
    {
        if ($this->app->runningInConsole()) {
            $this->app->singleton(Console\WorkCommand::class, static fn ($app) => new Console\WorkCommand($app['queue.worker'], $app['cache.store']));
            $this->commands([Console\ServeCommand::class, Console\WorkCommand::class]);
        }
    }
}
