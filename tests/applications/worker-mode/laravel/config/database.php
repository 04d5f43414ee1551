<?php

return [
    'default' => env('DB_CONNECTION', 'sqlite'),
    'connections' => [
        'sqlite' => ['driver' => 'sqlite', 'database' => env('DB_DATABASE', database_path('database.sqlite')), 'prefix' => ''],
        'pgsql' => ['driver' => 'pgsql', 'host' => env('DB_HOST'), 'port' => env('DB_PORT'), 'database' => env('DB_DATABASE'), 'username' => env('DB_USERNAME'),
            'password' => env('DB_PASSWORD'), 'charset' => 'utf8', 'prefix' => '', 'schema' => 'public', 'sslmode' => 'prefer'] + (env('POOL_MAX') ? ['pool' => ['max' => (int) env('POOL_MAX')]] : []),
    ],
    'migrations' => 'migrations',
    'redis' => ['client' => env('REDIS_CLIENT', 'phpredis'), 'default' => $redis = ['host' => '127.0.0.1', 'port' => env('REDIS_PORT'), 'database' => 1], 'booted' => ['database' => 2] + $redis],
];
