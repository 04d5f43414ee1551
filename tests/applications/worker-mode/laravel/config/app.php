<?php

return [
    'name' => env('APP_NAME', 'Laravel'), 'env' => env('APP_ENV', 'production'), 'debug' => (bool) env('APP_DEBUG', false), 'url' => 'http://applications.test',
    'key' => 'base64:' . base64_encode(str_repeat('k', 32)), 'cipher' => 'AES-256-CBC', 'timezone' => 'UTC', 'locale' => 'en', 'fallback_locale' => 'en', 'aliases' => [],
    // Composer would have Laravel find that of spindle/eloquent.
    'providers' => env('APP_BARE') ? [Illuminate\Foundation\Providers\FoundationServiceProvider::class, Illuminate\Filesystem\FilesystemServiceProvider::class,
        App\Providers\RouteServiceProvider::class] : [
        Illuminate\Auth\AuthServiceProvider::class, Illuminate\Bus\BusServiceProvider::class, Illuminate\Cache\CacheServiceProvider::class,
        Illuminate\Foundation\Providers\ConsoleSupportServiceProvider::class, Illuminate\Cookie\CookieServiceProvider::class,
        Illuminate\Database\DatabaseServiceProvider::class, Illuminate\Encryption\EncryptionServiceProvider::class,
        Illuminate\Filesystem\FilesystemServiceProvider::class, Illuminate\Foundation\Providers\FoundationServiceProvider::class,
        Illuminate\Hashing\HashServiceProvider::class, Illuminate\Mail\MailServiceProvider::class, Illuminate\Notifications\NotificationServiceProvider::class,
        Illuminate\Pagination\PaginationServiceProvider::class, Illuminate\Pipeline\PipelineServiceProvider::class, Illuminate\Queue\QueueServiceProvider::class,
        Illuminate\Redis\RedisServiceProvider::class, Illuminate\Session\SessionServiceProvider::class,
        Illuminate\Translation\TranslationServiceProvider::class, Illuminate\Validation\ValidationServiceProvider::class, Illuminate\View\ViewServiceProvider::class,
        Carbon\Laravel\ServiceProvider::class, ...env('POOL_MAX') ? [Spindle\Eloquent\PoolServiceProvider::class] : [], App\Providers\DeferredServiceProvider::class, App\Providers\AppServiceProvider::class, App\Providers\RouteServiceProvider::class,
    ],
];
