<?php

namespace App\Http;

final class Kernel extends \Illuminate\Foundation\Http\Kernel
{
    protected $middleware = [\Illuminate\Foundation\Http\Middleware\ConvertEmptyStringsToNull::class];
    protected $middlewareGroups = ['web' => [\Illuminate\Cookie\Middleware\AddQueuedCookiesToResponse::class, \Illuminate\Session\Middleware\StartSession::class,
        \Illuminate\View\Middleware\ShareErrorsFromSession::class, \Illuminate\Foundation\Http\Middleware\VerifyCsrfToken::class,
        \Illuminate\Routing\Middleware\SubstituteBindings::class]];
    protected $routeMiddleware = ['auth.basic' => \Illuminate\Auth\Middleware\AuthenticateWithBasicAuth::class];
}
