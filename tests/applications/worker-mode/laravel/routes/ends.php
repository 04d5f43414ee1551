<?php

use App\State;
use Illuminate\Support\Facades\{DB, Redis, Route};

/** Requests that do not return. */
Route::get('/exit', function (): never {
    DB::beginTransaction();
    DB::table('notes')->insert(['of' => 'ends', 'text' => 'never']);
    exit('left');
});
Route::get('/dd', fn () => dd('dumped'));
Route::get('/memory', function () {
    ini_set('memory_limit', memory_get_usage() + 8_000_000);
    return str_repeat('x', 100_000_000);
});
Route::get('/twice', fn () => State::$handled++ . eval('namespace App; class State {}'));
Route::get('/long', function () {
    DB::beginTransaction();
    DB::table('notes')->insert(['of' => 'ends', 'text' => 'never']);
    touch(storage_path('app/long'));
    while (true) {
        echo str_repeat('.', 10_000);
        usleep(1000);
    }
});
Route::get('/late', function () {
    DB::beginTransaction();
    DB::table('notes')->insert(['of' => 'ends', 'text' => 'never']);
    sleep(50);
});
Route::get('/redis', function () {
    $redis = Redis::connection('booted')->client();
    $id = $redis->rawCommand('client', 'id');
    $redis->multi()->get('key');
    Redis::connection()->client()->rawCommand('client', 'kill', 'id', $id);
    return 'left';
});
Route::get('/notes', fn () => DB::table('notes')->where('of', 'ends')->count());
Route::get('/slow', fn () => usleep(200_000) ?? 'slow for ' . request('n'));
