<?php

namespace App\Providers;

use Illuminate\Support\Facades\Event;

/** One that is registered when its service is asked for. */
final class DeferredServiceProvider extends \Illuminate\Support\ServiceProvider implements \Illuminate\Contracts\Support\DeferrableProvider
{
    public function register(): void
    {
        $this->app->instance('deferred', true);
        Event::listen('asked', static fn () => 1);
    }

    public function provides(): array
    {
        return ['deferred'];
    }
}
