<?php

declare(strict_types=1);

// What the cases pass values to: PHP checks the type when a case is run, and the analyser when it is read.

function takes_int(int $value): void {}
function takes_string(string $value): void {}
function takes_throwable(Throwable $value): void {}
function price(string $item): int { return strlen($item); }
function name(): string { return 'tea'; }
