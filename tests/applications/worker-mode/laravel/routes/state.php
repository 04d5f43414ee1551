<?php

use App\State;
use Illuminate\Support\Facades\Route;

/** What is seen of a kind; and what is seen when it has been changed, in a request that may fail then. */
Route::get('/see/{kind}', fn (string $kind) => ['handled' => ++State::$handled, 'seen' => (State::kinds()[$kind][1])()]);
Route::get('/change/{kind}/{fails}', function (string $kind, string $fails) {
    [$change, $see] = State::kinds()[$kind];
    $seen = $change() === State::LATER ? State::LATER : $see();
    return $fails === 'fails' ? throw new DomainException(json_encode($seen)) : ['handled' => ++State::$handled, 'seen' => $seen];
});
Route::get('/kinds', fn () => array_keys(State::kinds()));
Route::get('/visits', App\Http\Controllers\Visits::class);
