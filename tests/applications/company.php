<?php

/**
 * Prepended to each script of an application: coroutines that are ready nearly always, for as long as the script runs.
 *
 * They have begun before the script does, and end when it has. Each has an output buffer and an error handler that would
 * show in the pages if they were not its own. At the end SPINDLE_TURNS gets a line with the number of their turns.
 * There are no variables and functions here that the script could see.
 */

(static function (): void {
    require __DIR__ . '/seeded.php';
    $ended = false;
    $turns = 0;
    register_shutdown_function(static function () use (&$turns): void {
        file_put_contents(getenv('SPINDLE_TURNS'), "$turns\n", FILE_APPEND);
    });
    Async\onFinally(static function () use (&$ended): void {
        $ended = true;
    });
    for ($i = 0; $i < 3; $i++) {
        Async\spawn(static function () use (&$ended, &$turns): void {
            ob_start(static fn (): string => '');
            set_error_handler(static fn () => exit('the error handler of a coroutine'));
            for ($turn = 1; !$ended; $turn++) {
                echo 'noise of a coroutine';
                file_exists('/nothing/at/all'); // a call that fails: ENOENT must not become another's errno
                $turns++;
                // Ready all the time would be a busy loop while the script waits.
                $turn % 16 ? Async\suspend() : Async\delay(1);
            }
            restore_error_handler();
            ob_end_clean();
        });
    }
    Async\suspend();
})();
