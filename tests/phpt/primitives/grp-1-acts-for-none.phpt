--TEST--
GRP-1 a block that goes on when its caller could not wait any longer acts for itself, and for no later coroutine in that one's place
--INI--
async.seed=0
display_errors=0
log_errors=0
--FILE--
<?php
use function Async\{await, currentCoroutine, group, spawn};
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';

// A block that goes on when its caller could not wait any longer acts for itself.
$state = new Async\FutureState;
$future = new Async\Future($state);
$caller = spawn(function () use ($future) {
    group(function () use ($future) {
        for ($is_over = false; !$is_over; ) {
            try {
                await($future);
                $is_over = true;
            } catch (Async\DeadlockError) {
            }
        }
        (new Async\Mutex)->with(fn () => print('acts as #' . currentCoroutine()->getId() . "\n"));
    });
});
for ($n = 0; $n < 4 && !$caller->isCompleted(); $n++) {
    try {
        @await($caller);
    } catch (Async\DeadlockError) {
    }
}
unset($caller);
gc_collect_cycles();
$others = array_map(fn () => spawn(fn () => T\turns(100)), range(1, 3));
spawn(fn () => $state->complete(1));
array_map(await(...), $others);
?>
--EXPECT--
acts as #3
