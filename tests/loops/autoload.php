<?php

/**
 * Loads the packages of this repository, and what is in the folder that SPINDLE_SOURCES names: OWNER/NAME, by the composer.json
 * there. Returns whether a package is there.
 */

declare(strict_types=1);

namespace Loops;

require_once dirname(__DIR__) . '/sources.php';

/** Adds a package and what it requires. Returns the number of packages, 0 if it is not there. */
function load(string $package): int
{
    static $loaded = [];
    if (!isset(\Sources\packages()[$package])) {
        return 0;
    }
    if (isset($loaded[$package])) {
        return count($loaded);
    }
    $loaded[$package] = true;
    [$folder, $about] = \Sources\packages()[$package];
    foreach (array_keys($about['require'] ?? []) as $required) {
        load($required);
    }
    foreach ($about['autoload']['psr-4'] ?? [] as $prefix => $folders) {
        spl_autoload_register(static function (string $class) use ($prefix, $folders, $folder): void {
            foreach (str_starts_with($class, $prefix) ? (array) $folders : [] as $inner) {
                $file = "$folder/" . rtrim("$inner", '/') . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
                if (is_file($file)) {
                    require $file;
                    return;
                }
            }
        });
    }
    foreach ($about['autoload']['files'] ?? [] as $file) {
        require_once "$folder/$file";
    }
    return count($loaded);
}

spl_autoload_register(static function (string $class): void {
    $file = dirname(__DIR__, 2) . '/packages/' . strtr($class, ['Spindle\\Revolt\\' => 'revolt-driver/src/',
        'Spindle\\React\\' => 'react-loop/src/']) . '.php';
    str_starts_with($class, 'Spindle\\') && is_file($file) && require $file;
});
