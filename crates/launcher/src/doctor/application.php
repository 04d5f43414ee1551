<?php
// Boots two instances of an application, and writes what is found to the file that $argv[1] names; $argv[2] is the application.

namespace Spindle\Doctor;

use function Async\{await, spawnInstance};

/** @return array<string, mixed> */
function examine(string $app): array
{
    $opcache = \function_exists('opcache_get_status') ? \opcache_get_status(false) : false;
    $found = ['opcache' => $opcache !== false, 'jit' => (bool) ($opcache['jit']['on'] ?? false), 'time_slice_ms' => (int) \ini_get('async.time_slice_ms') ?: 10,
        'shared' => [], 'why' => null, 'ms' => 0.0, 'bytes' => 0];
    $_SERVER['argv'] = $GLOBALS['argv'] = \array_slice($GLOBALS['argv'], 2);
    $_SERVER['argc'] = $GLOBALS['argc'] = \count($_SERVER['argv']);
    foreach (['SCRIPT_NAME', 'SCRIPT_FILENAME', 'PHP_SELF', 'PATH_TRANSLATED'] as $name) {
        $_SERVER[$name] = $app;
    }
    $boot = (static fn (): mixed => require \func_get_arg(0))($app);
    if (!\is_callable($boot)) {
        $found['why'] = 'it returns ' . \get_debug_type($boot) . ', and must return what boots an instance, as in: return fn (int $instance) => function (): void {};';
        return $found;
    }
    for ($number = 0; $number < 2 && $found['why'] === null; $number++) { // the first one loads the code
        $measured = static function () use ($boot, $number): array {
            [$memory, $time] = [\memory_get_usage(), \hrtime(true)];
            $handler = $boot($number);
            $is_right = \is_callable($handler) || $handler instanceof \Psr\Http\Server\RequestHandlerInterface;
            return [$is_right ? null : 'its boot returns ' . \get_debug_type($handler) . ', and must return what handles the requests of the instance: a callable',
                \memory_get_usage() - $memory, (\hrtime(true) - $time) / 1e6];
        };
        try {
            [$running, $said] = logged(static fn () => spawnInstance($measured));
            if (\preg_match('/All instances share the objects that exist already, in (.*): make them/', $said, $shared)) {
                $found['shared'] = \explode(', ', $shared[1]);
            }
            [$found['why'], $found['bytes'], $found['ms']] = await($running) ?? ['its boot exits', 0, 0.0];
        } catch (\Throwable $thrown) {
            $found['why'] = 'its boot throws ' . \get_class($thrown) . ": {$thrown->getMessage()} in {$thrown->getFile()}:{$thrown->getLine()}";
        }
    }
    return $found;
}

/** Calls a function, and returns what it returns, and what is written to the error log meanwhile. @return array{mixed, string} */
function logged(\Closure $function): array
{
    $file = \tempnam(\sys_get_temp_dir(), 'doctor');
    $before = \ini_set('error_log', $file);
    try {
        return [$function(), (string) \file_get_contents($file)];
    } finally {
        \ini_set('error_log', (string) $before);
        \unlink($file);
    }
}

[, $place, $app] = $argv;
try {
    $found = examine($app);
} catch (\Throwable $thrown) {
    $found = ['why' => 'it throws ' . \get_class($thrown) . ": {$thrown->getMessage()} in {$thrown->getFile()}:{$thrown->getLine()}"];
}
\file_put_contents($place, \json_encode($found, \JSON_INVALID_UTF8_SUBSTITUTE | \JSON_THROW_ON_ERROR));
