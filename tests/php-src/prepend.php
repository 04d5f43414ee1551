<?php

/**
 * Runs before the script of each test and makes it one coroutine among others.
 *
 * The other one ticks: it is ready nearly always, so whatever can give way in the script does. It has begun before the
 * script does, and ends when the script has. It has an output buffer, silence (@), an error handler and an errno
 * that would show in the script if they were not its own. In the folder SPINDLE_TICKS it leaves a link to the script
 * when it gets a turn while the script runs ("among"), and one at its end ("ended"); where open_basedir confines files
 * it cannot.
 *
 * The script must not see any of this. So there are no variables and no functions here. The objects are made behind a
 * row of others, freed so that the script's own get the numbers 1, 2, 3... as usual. The notes are links, as these take no
 * resource and leave PHP's caches alone. The collector of cycles begins with an empty list, and as the ticker
 * hardly uses an object while the script runs, it adds next to nothing to it. What can be seen all the same is this file in
 * get_included_files(), the number of the first resource, and a run of the collector: with stock PHP this file does that
 * only, for a comparison with nothing but Spindle in the difference.
 */

(static function (): void {
    $objects = [];
    for ($i = 0; $i < 900; $i++) {
        $objects[] = new EmptyIterator();
    }
    $objects[] = $objects[0];
    unset($objects[900]); // it may be garbage now: the collector has something to look at, also with stock PHP
    if (extension_loaded('spindle')) {
        $ended = false;
        Async\onFinally(static function () use (&$ended): void {
            $ended = true;
        });
        Async\spawn(static function (mixed ...$arguments) use (&$ended): void {
            $tick = static function (Async\Coroutine $main, string $script, string $notes) use (&$ended): void {
                // A fatal error flushes all buffers: nothing must come of this one.
                ob_start(static fn (): string => '');
                echo 'noise of the ticker';
                set_error_handler(static fn () => exit('the error handler of the ticker'));
                Async\suspend();
                // Asked once, as it does leave something to the collector. ($ended is set a little later.)
                if (!$main->isCompleted() && ini_get('open_basedir') === '') {
                    symlink($script, "$notes/among-" . getmypid() . '-' . hrtime(true));
                }
                for ($turn = 0; !$ended; $turn++) {
                    if (ini_get('open_basedir') === '') {
                        file_exists("$notes/nothing"); // a call that fails: ENOENT must not become another's errno
                    }
                    // Ready all the time would be a busy loop while the script sleeps.
                    $turn % 16 ? Async\suspend() : Async\delay(1);
                }
                if (ini_get('open_basedir') === '') {
                    symlink($script, "$notes/ended-" . getmypid() . '-' . hrtime(true));
                }
                ob_end_clean();
            };
            @$tick(...$arguments);
        }, Async\currentCoroutine(), get_included_files()[0], getenv('SPINDLE_TICKS'));
        Async\suspend();
    }
    gc_collect_cycles();
    while ($i-- > 0) {
        unset($objects[$i]);
    }
})();
