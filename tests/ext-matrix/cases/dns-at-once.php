<?php
// needs: dns ext:ffi
// ini: ffi.enable=1
// PHP resolves names into a buffer in its globals, which it frees at the next name.
namespace Matrix;

use Async;

with_coroutines('the buffer of a name that is waited for is not freed for another one', function (Check $check): void {
    $block = fn() => \FFI::new('char[1024]', false, true);
    // Memory of the buffer's size lies between memory that is in use: one that has to grow goes elsewhere.
    foreach (\array_chunk(\array_map($block, \range(1, 40)), 2) as [$free]) {
        \FFI::free($free);
    }
    $slow = Async\spawn(fn() => \gethostbyname('n1.w500.test'));
    while (!$slow->isSuspended()) {
        Async\suspend();
    }
    $many = finished(Async\spawn(fn() => \gethostbynamel('many.w1.test')));
    \count($many) === 100 or $check->problem('addresses: ' . \json_encode($many));
    $slow->isCompleted() and $check->problem('order: the other one has ended already');
    $others = \array_map($block, \range(1, 8));
    foreach ($others as $other) {
        \FFI::memset($other, 0x55, 1024);
    }
    $answer = finished($slow);
    $answer === '10.1.0.1' or $check->problem("answer: $answer");
    foreach ($others as $other) {
        \FFI::string($other, 1024) === \str_repeat("\x55", 1024) or $check->problem('memory: it was written to after it had been freed');
    }
});
