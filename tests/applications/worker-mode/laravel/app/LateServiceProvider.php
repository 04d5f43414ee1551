<?php

namespace App;

final class LateServiceProvider extends \Illuminate\Support\ServiceProvider
{
    public function register(): void
    {
        $this->app->instance('late', true);
    }
}
