<?php

declare(strict_types=1);

namespace Spindle\Laravel\Console;

use function Async\{await, delay, signal, spawn};

/**
 * For commands that are done by another program: it takes the place of this process, so that a service manager's signals come to
 * it. The application of this process, which has been booted for the command, goes away with that.
 */
trait ReplacesItself
{
    /** Does not return if the process can be replaced. If it cannot, without pcntl, the program is a child, which gets the signals. */
    private function replaceBy(string $program, string ...$arguments): int
    {
        $environment = self::environment();
        if (function_exists('pcntl_exec')) {
            @pcntl_exec($program, $arguments, $environment);
        }
        $child = proc_open([$program, ...$arguments], [STDIN, STDOUT, STDERR], $pipes, env_vars: $environment);
        if ($child === false) {
            return 1;
        }
        foreach ([SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT] as $signal) {
            spawn(static function () use ($child, $signal): void {
                while (true) {
                    await(signal($signal));
                    // Ctrl+C of a terminal has come to the child, too.
                    $signal === SIGINT && stream_isatty(STDIN) || proc_terminate($child, $signal);
                }
            });
        }
        while (($now = proc_get_status($child))['running']) {
            delay(50);
        }
        exit($now['signaled'] ? 128 + $now['termsig'] : $now['exitcode']);
    }

    /** What this process was started with, without what it has read from .env: the program reads that itself, also when it has changed. */
    private static function environment(): array
    {
        $environment = [];
        foreach (array_filter(explode("\0", (string) @file_get_contents('/proc/self/environ'))) as $variable) {
            [$name, $value] = explode('=', $variable, 2) + [1 => ''];
            $environment[$name] = $value;
        }
        return $environment ?: getenv();
    }
}
