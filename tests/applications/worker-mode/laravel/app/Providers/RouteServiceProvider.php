<?php

namespace App\Providers;

use Illuminate\Support\Facades\Route;

final class RouteServiceProvider extends \Illuminate\Foundation\Support\Providers\RouteServiceProvider
{
    public function boot(): void
    {
        $this->routes(static function (): void {
            Route::middleware('web')->group(base_path('routes/web.php'));
            Route::middleware('web')->prefix('state')->group(base_path('routes/state.php'));
            Route::prefix('ends')->group(base_path('routes/ends.php'));
            Route::group([], base_path('routes/api.php'));
        });
        // When there are routes, also if they come from the cache: then one is added to it.
        $this->booted(fn () => $this->app->booted(function (): void {
            $this->app->routesAreCached() && Route::get('/added', \App\Http\Controllers\Visits::class);
            collect(Route::getRoutes()->getRoutes())->each->gatherMiddleware();
        }));
    }
}
