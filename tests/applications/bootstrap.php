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
    $suite = (require getenv('SPINDLE_SUITES'))[getenv('SPINDLE_SUITE')];
    $tree = getenv('SPINDLE_SUITE_TREE') . '/';
    $root = getenv('SPINDLE_SUITE_ROOT') . '/usr/share/php/';
    $map = $suite['map'] ?? [];
    $files = [];
    $isOfSources = isset($suite['sources']);
    if ($isOfSources) {
        // What Composer would install, as far as it is in the folder of sources.
        require_once dirname(__DIR__) . '/sources.php';
        $packages = array_diff_key(\Sources\packages(), array_flip($suite['without'] ?? []));
        $load = static function (string $folder, array $about, bool $isSuite) use (&$load, &$map, &$files, &$packages, $tree): void {
            unset($packages[$about['name']]);
            foreach ([$about['require'] ?? [], $isSuite ? $about['require-dev'] ?? [] : []] as $required) {
                foreach (array_keys($required) as $package) {
                    if (isset($packages[$package])) {
                        [$source, $ofIt] = $packages[$package];
                        $copy = "{$tree}vendor/$package";
                        $load(is_dir($copy) ? $copy : $source, $ofIt, false);
                    }
                }
            }
            foreach ([$about['autoload'] ?? [], $isSuite ? $about['autoload-dev'] ?? [] : []] as $autoload) {
                foreach ($autoload['psr-4'] ?? [] as $prefix => $folders) {
                    foreach ((array) $folders as $inner) {
                        $map[$prefix] = [...(array) ($map[$prefix] ?? []), "$folder/" . rtrim($inner, '/')];
                    }
                }
                foreach ($autoload['files'] ?? [] as $file) {
                    $files[] = "$folder/$file";
                }
            }
        };
        $load(rtrim($tree, '/'), json_decode(file_get_contents("$tree/composer.json"), true, 512, JSON_THROW_ON_ERROR), true);
    }
    uksort($map, static fn (string $a, string $b) => strlen($b) <=> strlen($a));
    spl_autoload_register(static function (string $class) use ($map, $tree, $root, $isOfSources): void {
        foreach ($map as $prefix => $folders) {
            if (str_starts_with($class, $prefix)) {
                foreach ((array) $folders as $folder) {
                    $file = ($folder[0] === '/' ? '' : $tree) . "$folder/" . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
                    if (is_file($file)) {
                        require $file;
                        return;
                    }
                }
            }
        }
        $file = $root . strtr($class, '\\', '/') . '.php';
        // A package may have another version of what is in the folder of sources.
        $has = static fn (string $prefix): bool => str_starts_with($class, $prefix);
        if (is_file($file) && !($isOfSources && array_filter(array_keys($map), $has))) {
            require $file;
        }
    });
    foreach ($suite['aliases'] ?? [] as $alias => $class) {
        class_alias($class, $alias);
    }
    foreach ($files as $file) {
        require_once $file;
    }
    foreach ($suite['files'] ?? [] as $file) {
        foreach ($file[0] === '/' ? [''] : [$tree, $root] as $folder) {
            if (is_file("$folder$file")) {
                require_once "$folder$file";
            }
        }
    }
})();
