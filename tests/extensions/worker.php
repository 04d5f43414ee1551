<?php
/*
 * Runs one case.
 *
 *   php worker.php CASE [EXTENSION]
 *
 * EXTENSION is what two flows are in at once (flows.php). MATRIX_OUT names the file for what is seen, MATRIX_TMP a scratch folder.
 */
namespace Matrix;

use Async;

require __DIR__ . '/lib.php';

if (isset($argv[2])) {
    require __DIR__ . '/flows.php';
    Flows::$extension = ['opcache' => 'zend opcache'][$argv[2]] ?? $argv[2]; // its name in PHP
    \restore_error_handler(); // a handler is PHP code, in which a call can be suspended
    is_async() && Async\await(Async\spawn(static fn() => null)); // the first coroutine of a process takes its time
}
Check::all(static fn() => require $argv[1]);
