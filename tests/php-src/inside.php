<?php

/**
 * Runs before the script of each test, and in its stead: calls the script inside a spawned coroutine, beside another one
 * that is ready nearly always and has an output buffer of its own. On stock PHP it calls the script from a shutdown function,
 * where a backtrace has the same frames. Both times a function includes the script, so its variables are not global.
 *
 * As in prepend.php, the script's own objects get the numbers 1, 2, 3... and a link in the folder SPINDLE_TICKS says that
 * the other coroutine was there until the end.
 */

(static function (): never {
    $objects = [];
    for ($i = 0; $i < 900; $i++) {
        $objects[] = new EmptyIterator();
    }
    $script = get_included_files()[0];
    $call = static function () use (&$script): void {
        require $script;
    };
    if (!extension_loaded('spindle')) {
        register_shutdown_function($call);
        gc_collect_cycles();
        while ($i-- > 0) {
            unset($objects[$i]);
        }
        exit;
    }
    $ended = false;
    $notes = getenv('SPINDLE_TICKS');
    $ticker = Async\spawn(static function () use (&$ended, $script, $notes): void {
        ob_start(static fn (): string => '');
        echo 'noise of the ticker';
        for ($turn = 1; !$ended; $turn++) {
            file_exists("$notes/nothing");
            $turn % 16 ? Async\suspend() : Async\delay(1);
        }
        symlink($script, "$notes/ended-" . getmypid() . '-' . hrtime(true));
        ob_end_clean();
    });
    Async\suspend();
    $coroutine = Async\spawn($call);
    gc_collect_cycles();
    while ($i-- > 0) {
        unset($objects[$i]);
    }
    try {
        Async\await($coroutine);
    } finally {
        $ended = true;
        Async\await($ticker);
    }
    exit;
})();
