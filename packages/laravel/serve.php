<?php

declare(strict_types=1);

/**
 * What `spindle serve vendor/spindle/laravel/serve.php --mode application` is given: it returns what boots an instance of the
 * application. An argument, after `--`, may name its folder.
 */

return (static function (): Closure {
    $folder = (require __DIR__ . '/folder.php')($_SERVER['argv'][1] ?? null);
    // As for requests that a web server passes to the application.
    $_SERVER['DOCUMENT_ROOT'] = "$folder/public";
    $_SERVER['SCRIPT_FILENAME'] = "$folder/public/index.php";
    return static fn (): Spindle\Laravel\Instance => Spindle\Laravel\Instance::boot($folder);
})();
