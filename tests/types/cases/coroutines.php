<?php
declare(strict_types=1);
require_once __DIR__ . '/../kit.php';

use Async\{Coroutine, CoroutineGroup, Scope};
use function Async\{await, protect, spawn, timeout};

$coroutine = spawn(price(...), 'tea');
takes_int(await($coroutine));
takes_string(await($coroutine)); // ERROR
takes_int(await($coroutine, timeout(1000)));
takes_string(await($coroutine, timeout(1000))); // ERROR
takes_int($coroutine->getResult() ?? 0);
takes_string($coroutine->getResult() ?? ''); // ERROR

$closure = spawn(fn (int $a, int ...$more): string => str_repeat('x', $a), 1, 2);
takes_string(await($closure));
takes_int(await($closure)); // ERROR

takes_string(await(spawn(name(...))));
takes_int(await(spawn(name(...)))); // ERROR

takes_int(await(timeout(1))); // ERROR

takes_int(protect(fn (): int => 3));
takes_string(protect(fn (): int => 3)); // ERROR

$scope = new Scope;
takes_int(await($scope->spawn(price(...), 'tea')));
takes_string(await($scope->spawn(price(...), 'tea'))); // ERROR

/** @var CoroutineGroup<int> $group */
$group = new CoroutineGroup;
$group->spawn(price(...), 'tea');
$group->spawn(name(...)); // ERROR
$results = await($group);
takes_int($results[0] ?? 0);
takes_string($results[0] ?? ''); // ERROR
takes_int($group->getResults()[0] ?? 0);

/** @param Coroutine<int|string> $of */
function either(Coroutine $of): void {}
either($coroutine);
either(spawn(fn (): array => [])); // ERROR
