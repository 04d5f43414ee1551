<?php

/**
 * Loads the classes of a suite, in place of the autoloader that Composer would have made: those of the suite itself by
 * its map (see suites.php), all others from where the distribution's packages have them.
 *
 * PHPUnit includes it also in the processes that it starts for single tests.
 */

(static function (): void {
    if (defined('SPINDLE_SUITE_LOADED')) { // it is also vendor/autoload.php of the suite
        return;
    }
    define('SPINDLE_SUITE_LOADED', true);
    $suite = (require __DIR__ . '/suites.php')[getenv('SPINDLE_SUITE')];
    $tree = getenv('SPINDLE_SUITE_TREE') . '/';
    $root = getenv('SPINDLE_SUITE_ROOT') . '/usr/share/php/';
    $map = $suite['map'] ?? [];
    uksort($map, static fn (string $a, string $b) => strlen($b) <=> strlen($a));
    spl_autoload_register(static function (string $class) use ($map, $tree, $root): void {
        foreach ($map as $prefix => $folders) {
            if (str_starts_with($class, $prefix)) {
                foreach ((array) $folders as $folder) {
                    $file = "$tree$folder/" . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
                    if (is_file($file)) {
                        require $file;
                        return;
                    }
                }
            }
        }
        $file = $root . strtr($class, '\\', '/') . '.php';
        if (is_file($file)) {
            require $file;
        }
    });
    foreach ($suite['aliases'] ?? [] as $alias => $class) {
        class_alias($class, $alias);
    }
    foreach ($suite['files'] ?? [] as $file) {
        foreach ([$tree, $root] as $folder) {
            if (is_file("$folder$file")) {
                require_once "$folder$file";
            }
        }
    }
})();
