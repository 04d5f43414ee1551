<?php
declare(strict_types=1);
require_once __DIR__ . '/../kit.php';

use Async\{Future, FutureState};
use function Async\{await, awaitAll, awaitAny, awaitAnyOf, awaitFirst, await_all, await_first_success, iterate, spawn};

/** @var FutureState<int> $state */
$state = new FutureState;
$state->complete(3);
(fn () => $state->complete('three')); // ERROR
$future = new Future($state);
takes_int(await($future));
takes_string(await($future)); // ERROR
takes_int($future->await());
takes_string($future->await()); // ERROR

$text = $future->map(fn (int $value): string => "$value");
takes_string(await($text));
takes_int(await($text)); // ERROR
Future::completed(3)->map(fn (string $value): string => $value)->ignore(); // ERROR
takes_string($text->finally(fn () => null)->await());
takes_int($text->finally(fn () => null)->await()); // ERROR

$coroutine = spawn(price(...), 'tea');
$all = awaitAll(['tea' => $coroutine]);
takes_int($all['tea'] ?? 0);
takes_string($all['tea'] ?? ''); // ERROR
foreach ($all as $key => $value) {
    takes_string($key);
    takes_int($key); // ERROR
    takes_int($value);
    takes_string($value); // ERROR
}
takes_int(awaitAny([$coroutine]));
takes_string(awaitAny([$coroutine])); // ERROR
takes_int(awaitFirst([$coroutine]));
takes_string(awaitFirst([$coroutine])); // ERROR
foreach (awaitAnyOf(1, [$coroutine]) as $key => $value) {
    takes_int($key);
    takes_int($value);
    takes_string($value); // ERROR
}
[$results, $failures] = await_all([$coroutine]);
takes_int($results[0] ?? 0);
takes_string($results[0] ?? ''); // ERROR
foreach ($failures as $failure) {
    takes_throwable($failure);
    takes_int($failure); // ERROR
}
takes_int(await_first_success([$coroutine])[0] ?? 0);

iterate(['tea' => 3], function (int $price, string $item): void {}, concurrency: 2);
iterate(['tea' => 3], function (string $price): void {}); // ERROR
