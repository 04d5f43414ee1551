<?php
declare(strict_types=1);
require_once __DIR__ . '/../kit.php';

use Async\RateLimiter;
use function Async\{awaitAllSettled, group, map, race, retry, spawn, withTimeout};

takes_int(group(price(...), 'tea'));
takes_string(group(price(...), 'tea')); // ERROR
takes_string(group(fn (): string => 'tea'));
takes_int(withTimeout(100, price(...), 'tea'));
takes_string(withTimeout(100, price(...), 'tea')); // ERROR

foreach (awaitAllSettled(['tea' => spawn(price(...), 'tea')]) as $key => $settled) {
    takes_string($key);
    takes_int($key); // ERROR
    takes_int($settled->unwrap());
    takes_string($settled->unwrap()); // ERROR
    takes_int($settled->value ?? 0);
}
foreach (map(['tea' => 3], fn (int $price, string $item): string => "$item $price") as $key => $text) {
    takes_string($key);
    takes_int($key); // ERROR
    takes_string($text);
    takes_int($text); // ERROR
}
map(['tea' => 3], fn (string $price): string => $price); // ERROR
takes_string(race([name(...)]));
takes_int(race([name(...)])); // ERROR
takes_int(retry(fn (int $attempt): int => $attempt));
takes_string(retry(fn (int $attempt): int => $attempt)); // ERROR
(new RateLimiter(1, 1))->acquire();
