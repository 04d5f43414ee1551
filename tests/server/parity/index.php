<?php
// The front controller: run for each request by PHP-FPM, and once by `spindle serve`, in worker mode.
require_once __DIR__ . '/seen.php';

if (PHP_SAPI === 'fpm-fcgi') {
    Parity\main();
    return;
}
return Parity\main(...);
