<?php

return ['driver' => env('SESSION_DRIVER', 'file'), 'lifetime' => 120, 'expire_on_close' => true, 'encrypt' => false, 'files' => storage_path('framework/sessions'),
    'connection' => null, 'table' => 'sessions', 'store' => null, 'lottery' => [0, 100], 'cookie' => 'PHPSESSID', 'path' => '/', 'domain' => null, 'secure' => false,
    'http_only' => true, 'same_site' => 'lax'];
