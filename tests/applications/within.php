<?php

/**
 * Runs a suite in one of the ways that are compared, SPINDLE_WAY: stock or loaded (nothing but the tests), coroutine (all of
 * them in one coroutine) or busy (the same, beside six coroutines that work and give way in turn).
 *
 * The arguments are PHPUnit's or, where SPINDLE_SCRIPT names one, those of a script. The file SPINDLE_RESULTS gets a line
 * for each test that begins and for each that has ended, and one at the end.
 */

declare(strict_types=1);

namespace Applications;

/** Six coroutines that are ready nearly always, each with state of its own that must not show in the tests. */
final class Company
{
    public int $turns = 0;
    private bool $isOver = false;

    public function start(): void
    {
        $work = [
            static fn (int $turn): string => md5(str_repeat("$turn", 50)),
            static function (int $turn): void {
                ob_start(static fn (): string => '');
                echo 'noise';
                \Async\suspend();
                ob_end_clean();
            },
            static function (): void {
                set_error_handler(static fn (): bool => true);
                \Async\suspend();
                echo $undefined;
                restore_error_handler();
            },
            static fn () => @file_exists('/nothing/at/all'), // a call that fails: ENOENT must not become another's errno
            static fn (int $turn) => \Async\await(\Async\spawn(static fn (): int => $turn)),
            static function (): void {
                [$one, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
                $reader = \Async\spawn(static fn () => fread($other, 4));
                fwrite($one, 'ping');
                \Async\await($reader);
            },
        ];
        foreach ($work as $task) {
            \Async\spawn(function () use ($task): void {
                for ($turn = 0; !$this->isOver; $turn++) {
                    $task($turn);
                    $this->turns++;
                    // Ready all the time would be a busy loop while the tests wait.
                    $turn % 16 ? \Async\suspend() : \Async\delay(1);
                }
            });
        }
    }

    public function end(): void
    {
        $this->isOver = true;
    }
}

(static function (array $arguments): void {
    $way = getenv('SPINDLE_WAY');
    $file = getenv('SPINDLE_RESULTS');
    $script = getenv('SPINDLE_SCRIPT');
    $isCoroutine = $way === 'coroutine' || $way === 'busy';
    $company = new Company();
    $giveWay = static function () use ($way): void {
        for ($i = $way === 'busy' ? 6 : 0; $i > 0; $i--) {
            \Async\suspend();
        }
    };
    if ($script !== false) {
        $_SERVER['PHP_SELF'] = $script;
        $task = static function () use ($script): int {
            require $script;
            return 0;
        };
    } else {
        ini_get('date.timezone') ?: ini_set('date.timezone', 'UTC');
        define('PHPUNIT_COMPOSER_INSTALL', 'PHPUnit/Autoload.php'); // also for the processes that PHPUnit starts
        require PHPUNIT_COMPOSER_INSTALL;
        require __DIR__ . '/bootstrap.php';
        require __DIR__ . '/Results.php';
        $command = new class(new Results($file, $giveWay)) extends \PHPUnit\TextUI\Command {
            public function __construct(private readonly Results $results)
            {
            }

            protected function handleArguments(array $argv): void
            {
                parent::handleArguments($argv);
                $this->arguments['listeners'][] = $this->results;
            }
        };
        $task = static fn (): int => $command->run(['phpunit', '--bootstrap', __DIR__ . '/bootstrap.php',
            '--do-not-cache-result', '--no-coverage', '--colors=never', ...array_slice($arguments, 1)], false);
    }

    // Some tests end the script: the note of the end is written in any case.
    $process = getmypid();
    register_shutdown_function(static function () use ($file, $company, $process): void {
        if (getmypid() === $process) {
            file_put_contents($file, json_encode(['ends' => true, 'turns' => $company->turns]) . "\n", FILE_APPEND);
        }
    });
    if (!$isCoroutine) {
        exit($task());
    }
    if ($way === 'busy') {
        $company->start();
    }
    $status = \Async\await(\Async\spawn($task));
    $company->end();
    exit($status);
})($argv);
