<?php

/**
 * Serves an application of Symfony Runtime: spindle serve vendor/spindle/symfony/serve.php --mode application
 *
 * The front is public/index.php of the working directory, or the first argument after "--".
 */

declare(strict_types=1);

use Spindle\Symfony\{Front, Instance};

return (static function (array $arguments): Closure {
    $named = array_values(array_filter($arguments, static fn (string $argument): bool => !str_starts_with($argument, '-')));
    $file = realpath($named[0] ?? 'public/index.php')
        ?: throw new RuntimeException(($named[0] ?? 'public/index.php') . ' is not in ' . getcwd() . ': start in the directory of the application, or name its front after "--"');
    require_once __DIR__ . '/src/Front.php'; // its autoloader is found by it
    $front = Front::load($file);
    // What the server says to a request that its script is. It must be set before the server runs.
    $_SERVER['SCRIPT_FILENAME'] = $_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = $file;
    if (($_SERVER['DOCUMENT_ROOT'] ?? '') === '') {
        $_SERVER['DOCUMENT_ROOT'] = dirname($file);
    }
    return static fn (int $instance): Closure => (new Instance($front))->handle(...);
})(array_slice($argv, 1));
