<?php

/** An installed application of Laravel, with packages/laravel in it, for the tests: the distribution's framework and worker-mode/laravel. */

declare(strict_types=1);

namespace Applications;

/** Makes the folder of the application, and its tables in the database. @param array<string, string> $environment what is in its .env */
function laravelFolder(string $folder, array $environment): void
{
    $packages = dirname(__DIR__, 2) . '/packages';
    $package = "$packages/laravel";
    exec('cp -r ' . escapeshellarg(__DIR__ . '/worker-mode/laravel') . ' ' . escapeshellarg($folder));
    foreach (['bootstrap/cache', 'storage/app', 'storage/logs', 'storage/framework/sessions', 'storage/framework/views', 'storage/framework/cache/data',
        'vendor/composer', 'vendor/spindle'] as $needed) {
        mkdir("$folder/$needed", recursive: true);
    }
    // What Composer makes.
    symlink($package, "$folder/vendor/spindle/laravel");
    symlink("$packages/eloquent", "$folder/vendor/spindle/eloquent");
    symlink("$packages/pooled-connections", "$folder/vendor/spindle/pooled");
    $installed = json_decode(file_get_contents("$package/composer.json"), true);
    file_put_contents("$folder/vendor/composer/installed.json", json_encode(['packages' => [$installed]]));
    file_put_contents("$folder/composer.json", '{}');
    file_put_contents("$folder/vendor/autoload.php", '<?php
        set_include_path(' . var_export(LIBRARIES, true) . ' . PATH_SEPARATOR . get_include_path());
        require_once "Illuminate/autoload.php";
        foreach (["Foundation", "Support", "Collections"] as $part) {
            require_once "Illuminate/$part/helpers.php";
        }
        spl_autoload_register(static function (string $class): void {
            $folders = ["App\\\\" => dirname(__DIR__) . "/app/"];
            foreach (["Laravel", "Eloquent", "Pooled"] as $package) {
                $folders["Spindle\\\\$package\\\\"] = __DIR__ . "/spindle/" . strtolower($package) . "/src/";
            }
            $file = strtr(strtr($class, $folders), "\\\\", "/") . ".php";
            is_file($file) && require $file;
        });
        spl_autoload_register(static function (string $class): void {
            str_starts_with($class, "Predis\\\\") && require_once strtr($class, "\\\\", "/") . ".php";
        });
        require_once dirname(__DIR__) . "/app/helpers.php";
        if (!class_exists("Normalizer")) { // as the polyfill for a PHP without intl; ASCII is normalised
            class Normalizer {
                const NFD = 4, NFKD = 8, NFC = 16, NFKC = 32;
                static function normalize(string $text) { return $text; }
                static function isNormalized(string $text) { return true; }
            }
            function normalizer_is_normalized(string $text) { return true; }
            function normalizer_normalize(string $text) { return $text; }
        }
    ');
    touch("$folder/database/database.sqlite");
    file_put_contents("$folder/.env", implode('', array_map(static fn ($name, $value) => "$name=\"$value\"\n", array_keys($environment), $environment)));
    exec(escapeshellarg(PHP_BINARY) . ' -d error_reporting=8191 ' . escapeshellarg("$folder/artisan") . ' migrate --force 2>&1', $said, $status);
    $status === 0 || \Runner\fail("the tables cannot be made:\n" . implode("\n", $said));
    // Servers of their own users write there.
    exec('chmod -R a+rwX ' . escapeshellarg($folder));
}

/** What .env says of a database: PostgreSQL, started in this folder, where it is installed, or else a file; and of Redis. @return array<string, string> */
function databaseEnvironment(string $folder, bool $withRedis = false): array
{
    mkdir($folder);
    chmod($folder, 0755);
    $servers = dirname(__DIR__, 2) . '/scripts/servers';
    if (!extension_loaded('pdo_pgsql')) {
        return [];
    }
    exec('bash ' . escapeshellarg($servers) . ' start ' . escapeshellarg($folder) . ' postgres' . ($withRedis ? ' redis' : '') . ' 2>&1', $said, $status);
    $status === 0 || \Runner\fail("the servers cannot be started:\n" . implode("\n", $said));
    register_shutdown_function(static fn () => exec('bash ' . escapeshellarg($servers) . ' stop ' . escapeshellarg($folder)));
    preg_match_all("/^export SPINDLE_(\w+)='?([^'\n]*)/m", file_get_contents("$folder/env"), $found);
    $of = array_combine($found[1], $found[2]);
    return ($withRedis ? ['REDIS_PORT' => $of['REDIS_PORT']] : []) + ['DB_CONNECTION' => 'pgsql', 'DB_HOST' => $of['PG_HOST'], 'DB_PORT' => $of['PG_PORT'], 'DB_DATABASE' => $of['PG_DB'], 'DB_USERNAME' => $of['PG_USER'], 'DB_PASSWORD' => $of['PG_PASSWORD']];
}
