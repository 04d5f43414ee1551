<?php

$single = ['driver' => 'single', 'path' => storage_path('logs/laravel.log'), 'level' => 'debug', 'tap' => [App\CountsRecords::class]];

return ['default' => 'single', 'channels' => ['single' => $single, 'booted' => $single]];
