<?php

declare(strict_types=1);

namespace Spindle\PHPUnit;

use Async\{CancellationException, Coroutine, Scope, TimeoutException};
use PHPUnit\Framework\{AssertionFailedError, IncompleteTest, SkippedTest};
use Spindle\Pooled\Pools;
use function Async\{await, delay, getCoroutines, suspend, timeout};

/** One run of a test, in a scope of its own. */
final class Run
{
    /** How long it takes at most until the failure is reported that has cancelled the application, in milliseconds. */
    private const REPORT = 5_000;

    /** @var list<array{Coroutine, \Throwable}> failures that no code has handled */
    private array $lost = [];

    /** A failure outside of the test's scope has cancelled the application. */
    private ?CancellationException $shutdown = null;

    /** That has been so in this test or an earlier one. Once more, and the application ends. */
    private static bool $has_shut_down = false;

    private readonly int $limit;

    public function __construct(int $limit, private readonly int $to_end, private readonly bool $may_leave_descriptors)
    {
        extension_loaded('spindle') || throw new \LogicException('spindle/phpunit needs the PHP extension spindle, which is not loaded');
        $this->limit = ini_get('async.virtual_time') ? 0 : $limit; // time that jumps says nothing
    }

    /** Runs the test, and returns what it returns. @throws \Throwable what it throws, or what is wrong with what it leaves */
    public function of(\Closure $test): mixed
    {
        if (class_exists(Pools::class, false) && Pools::all()->isInTransaction()) {
            throw self::failure('setUp() has begun a transaction on a connection of a pool. The test is another coroutine, so what it writes is not in that, and stays in the database.'
                . ' Begin the transaction in the test, or have no pool in tests');
        }
        $is_reported = false;
        set_exception_handler(function (\Throwable $failure) use (&$is_reported): void {
            $is_reported = !self::$has_shut_down && $failure === $this->shutdown?->getPrevious();
            self::$has_shut_down = $is_reported ?: throw $failure;
        });
        try {
            return $this->inScope($test);
        } finally {
            for ($ms = 0; $this->shutdown !== null && !$is_reported && $ms < self::REPORT; $ms++) {
                delay(1);
            }
            restore_exception_handler();
        }
    }

    private function inScope(\Closure $test): mixed
    {
        $before = self::ids();
        $descriptors = self::descriptors();
        $scope = new Scope();
        $scope->setExceptionHandler(function (Scope $scope, Coroutine $coroutine, \Throwable $failure): void {
            $this->lost[] = [$coroutine, $failure];
        });
        $output = '';
        $buffers = 0; // that it has left open; below 0: that it has closed, and not opened
        $running = $scope->spawn(static function () use ($test, &$output, &$buffers): mixed {
            ob_start();
            try {
                return $test();
            } finally {
                $buffers = ob_get_level() - 1;
                while (ob_get_level() > 1) {
                    ob_end_flush();
                }
                $output = ob_get_clean();
            }
        });
        try {
            $result = null;
            try {
                $result = $this->limit > 0 ? await($running, timeout($this->limit)) : await($running);
            } catch (TimeoutException $late) {
                throw $running->isCompleted() ? $late : self::failure("The test has taken longer than $this->limit ms. These have not ended:\n" . self::list($before, $running));
            } catch (CancellationException $cancelled) {
                $this->shutdown = $running->isCompleted() || $cancelled->getPrevious() === null ? throw $cancelled : $cancelled;
            }
            $left = $this->left($scope, $before);
        } finally {
            unset($test, $running);
            $this->end($scope, $before);
            echo $output;
            for (; $buffers > 0; $buffers--) {
                ob_start(); // so that PHPUnit sees it, and says what it says of any test
            }
            $buffers < 0 && ob_end_flush();
        }
        if ($this->shutdown !== null) {
            throw self::failure("A coroutine outside of the test's scope has failed, and nothing handles that: all were {$this->shutdown->getMessage()}", $this->shutdown->getPrevious());
        }
        foreach ($this->lost as [$coroutine, $failure]) {
            throw $failure instanceof AssertionFailedError || $failure instanceof SkippedTest || $failure instanceof IncompleteTest ? $failure
                : self::failure("The coroutine spawned at {$coroutine->getSpawnLocation()} has failed, and nothing handles that: " . self::said($failure), $failure);
        }
        if ($left !== '') {
            throw self::failure($left);
        }
        if (!$this->may_leave_descriptors) {
            $open = $this->opened($descriptors);
            $open === [] || throw self::failure('The test has left open: ' . implode(', ', array_map(static fn (int $number, string $of) => "descriptor $number, $of", array_keys($open), $open)));
        }
        return $result;
    }

    /** Says which coroutines have not ended, in a while; nothing if all have. @param array<int, true> $before */
    private function left(Scope $scope, array $before): string
    {
        try {
            $scope->awaitCompletion(timeout($this->to_end));
        } catch (TimeoutException) {
        } catch (CancellationException $cancelled) {
            $this->shutdown = $cancelled->getPrevious() === null ? throw $cancelled : $cancelled;
        } catch (\Throwable) { // a failure, which the handler has
        }
        $left = self::list($before);
        return $left === '' ? '' : "The test has left coroutines that have not ended:\n$left";
    }

    /** Cancels what is left, and waits for its end, but not for ever. @param array<int, true> $before */
    private function end(Scope $scope, array $before): void
    {
        $lost = $this->lost; // what a cancellation brings about is no failure of the test
        try {
            $scope->cancel();
            array_map(static fn (Coroutine $coroutine) => $coroutine->cancel(), self::since($before)); // of other scopes
            $scope->awaitAfterCancellation(static fn () => null, timeout(max(1000, $this->to_end)));
            suspend(); // a cancellation of the application that has not come yet
        } catch (CancellationException $cancelled) {
            $this->shutdown ??= $cancelled->getPrevious() === null ? null : $cancelled;
        } catch (\Throwable) {
        }
        $this->lost = $lost;
    }

    /** What has been opened, and is still open in a while. @param array<int, string> $before @return array<int, string> */
    private function opened(array $before): array
    {
        gc_collect_cycles();
        for ($ms = 0; ($open = array_diff_assoc(self::descriptors(), $before)) !== [] && $ms < $this->to_end; $ms++) {
            delay(1); // a server that setUp() has started closes its end after the test has closed its own
        }
        return $open;
    }

    /** @param array<int, true> $before @return list<Coroutine> */
    private static function since(array $before): array
    {
        return array_values(array_filter(getCoroutines(), static fn (Coroutine $coroutine) => !isset($before[$coroutine->getId()]) && !$coroutine->isCompleted()));
    }

    /** @return array<int, true> */
    private static function ids(): array
    {
        return array_fill_keys(array_map(static fn (Coroutine $coroutine) => $coroutine->getId(), getCoroutines()), true);
    }

    /** Says what has been spawned since and has not ended. @param array<int, true> $before */
    private static function list(array $before, ?Coroutine $test = null): string
    {
        return implode("\n", array_map(static fn (Coroutine $coroutine) => '- ' . ($coroutine === $test ? 'the test itself, which ' : "spawned at {$coroutine->getSpawnLocation()}, ")
            . ($coroutine->isSuspended() ? "waits at {$coroutine->getSuspendLocation()}" : 'has not begun, or would run on'), self::since($before)));
    }

    /** What the process has open, but for what Spindle itself and libraries wait with. @return array<int, string> */
    private static function descriptors(): array
    {
        $found = [];
        foreach (scandir('/proc/self/fd') as $number) {
            $of = @readlink("/proc/self/fd/$number");
            if ($of !== false && !str_starts_with($of, 'anon_inode:') && !preg_match('~^/proc/\d+/fd$~', $of)) {
                $found[(int) $number] = $of;
            }
        }
        return $found;
    }

    private static function said(\Throwable $failure): string
    {
        return $failure::class . ": {$failure->getMessage()} in {$failure->getFile()}:{$failure->getLine()}";
    }

    private static function failure(string $text, ?\Throwable $previous = null): AssertionFailedError
    {
        return new AssertionFailedError($text, 0, $previous);
    }
}
