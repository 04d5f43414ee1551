<?php

return [
    'defaults' => ['guard' => 'web', 'passwords' => 'users'],
    'guards' => ['web' => ['driver' => 'session', 'provider' => 'users'], 'other' => ['driver' => 'other']],
    'providers' => ['users' => ['driver' => 'eloquent', 'model' => App\User::class]],
];
