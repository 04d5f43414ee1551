<?php

declare(strict_types=1);

namespace Spindle\Symfony;

use Symfony\Component\Runtime\RuntimeInterface;
use Symfony\Component\Runtime\SymfonyRuntime;

/**
 * The front of an application of Symfony Runtime, as `public/index.php` and `bin/console`: a file that returns a closure.
 *
 * It is loaded once for the process, with the autoloader, because a file may define functions. The closure belongs to no instance, so
 * each instance may call it.
 */
final class Front
{
    private function __construct(
        public readonly string $file,
        public readonly \Closure $closure,
        /** @var class-string<RuntimeInterface> */
        private readonly string $runtime,
        /** @var array<string, mixed> */
        private readonly array $options,
    ) {}

    /** Loads the autoloader of the application and the front, of which this is the real path. */
    public static function load(string $file): self
    {
        $autoloader = self::autoloader($file);
        require_once $autoloader;
        if (!\interface_exists(RuntimeInterface::class)) {
            throw new \RuntimeException("$file needs Symfony Runtime, so that an application can be made for each instance: composer require symfony/runtime, and let the front return the closure that symfony/runtime's documentation shows");
        }
        [$class, $options] = self::settings(\dirname($autoloader));
        // The autoloader is loaded, so vendor/autoload_runtime.php, which the front includes, runs nothing.
        $_SERVER['SCRIPT_FILENAME'] = $file;
        \ob_start();
        try {
            $closure = (static fn () => require \func_get_arg(0))($file);
        } finally {
            \ob_end_clean();
        }
        if (!\is_object($closure) || !\is_callable($closure)) {
            throw new \RuntimeException("$file returns " . \get_debug_type($closure) . ', and must return a closure, as fronts for Symfony Runtime do: return fn (array $context) => new App\Kernel($context[\'APP_ENV\'], (bool) $context[\'APP_DEBUG\']);');
        }
        return new self($file, $closure(...), $class, $options);
    }

    /** Makes a runtime. That reads .env files and registers handlers of errors, so each instance makes its own. */
    public function runtime(): RuntimeInterface
    {
        return new $this->runtime($this->options);
    }

    /** Calls the closure of the front with what it asks for. */
    public function application(RuntimeInterface $runtime): ?object
    {
        [$closure, $arguments] = $runtime->getResolver($this->closure)->resolve();
        return $closure(...$arguments);
    }

    /** Composer's autoloader: above the front, as this package may be a link to another place, else where Composer has put this file. */
    private static function autoloader(string $file): string
    {
        $installed = \dirname(__DIR__, 3) . '/autoload.php';
        return self::above(\dirname($file), 'vendor/autoload.php') ?? (\is_file($installed) ? $installed : null)
            ?? throw new \RuntimeException("No directory above $file has a vendor/autoload.php: composer install makes it");
    }

    /**
     * The class of the runtime and its options, which Composer writes from composer.json into vendor/autoload_runtime.php.
     *
     * @return array{class-string<RuntimeInterface>, array<string, mixed>}
     */
    private static function settings(string $vendor): array
    {
        $file = self::above($vendor, 'composer.json')
            ?? throw new \RuntimeException("No directory above $vendor has the application's composer.json, whose extra.runtime says what its runtime is");
        $extra = \json_decode((string) \file_get_contents($file), true, flags: \JSON_THROW_ON_ERROR)['extra']['runtime'] ?? [];
        if (!\is_array($extra) || isset($extra['autoload_template'])) {
            throw new \RuntimeException("$file has an extra.runtime with an autoload_template, or false: what that does is not known here");
        }
        $class = $_SERVER['APP_RUNTIME'] ?? $_ENV['APP_RUNTIME'] ?? $extra['class'] ?? SymfonyRuntime::class;
        if (!\is_a($class, RuntimeInterface::class, true)) {
            throw new \RuntimeException("$class, which is to be the runtime of the application, is no " . RuntimeInterface::class);
        }
        $given = $_SERVER['APP_RUNTIME_OPTIONS'] ?? $_ENV['APP_RUNTIME_OPTIONS'] ?? [];
        $given = \is_string($given) ? \json_decode($given, true, flags: \JSON_THROW_ON_ERROR) : $given;
        unset($extra['class']);
        return [$class, $given + $extra + ['project_dir' => \dirname($file), 'error_handler' => Errors::class]];
    }

    /** A file with this name in the directory or one above it. */
    public static function above(string $folder, string $name): ?string
    {
        while (!\is_file("$folder/$name")) {
            if ($folder === \dirname($folder)) {
                return null;
            }
            $folder = \dirname($folder);
        }
        return "$folder/$name";
    }
}
