<?php

return ['default' => env('CACHE_DRIVER', 'file'), 'prefix' => '',
    'stores' => ['array' => ['driver' => 'array', 'serialize' => false], 'file' => ['driver' => 'file', 'path' => storage_path('framework/cache/data')]]];
