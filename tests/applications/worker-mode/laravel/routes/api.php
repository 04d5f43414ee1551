<?php

use Illuminate\Http\Request;
use Illuminate\Support\Facades\Route;

Route::get('/plain', fn (Request $request) => 'plain for ' . $request->query('n'));
Route::post('/json', fn (Request $request) => pause() ?? $request->json()->all());
