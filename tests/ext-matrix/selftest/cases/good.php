<?php
// expect: ok .* waits, all at once
// expect: ok .* ticks are enough
// expect: ok .* two sides
// expect: ok .* cancelled
// What gives way passes.
namespace Matrix;

use Async;

function wait_ms(int $ms): void
{
    is_async() ? Async\delay($ms) : \usleep($ms * 1000);
}

matrix('waits, all at once', function (int $i): string {
    wait_ms(ms(300));
    return "answer $i";
}, ms: 300);
matrix('ticks are enough', function (int $i): string {
    wait_ms(ms(10 * $i + 100));
    return "answer $i";
}, n: 5, ms: 100, evidence: 'ticks');
scenario('two sides', function (): array {
    $other = beside(function (): string {
        wait_ms(100);
        return 'other';
    });
    return [$other(), 'this'];
}, waits: 25);
cancelled('cancelled', fn() => wait_ms(5000), fn() => 'fine');
