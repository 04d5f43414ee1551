<?php

declare(strict_types=1);

namespace Spindle\PHPUnit;

use Async\{AsyncException, Coroutine, Scope, TimeoutException};
use PHPUnit\Framework\{Assert, AssertionFailedError, IncompleteTest, SkippedTest};
use function Async\{await, getCoroutines, timeout};

/** One run of a test, in a scope of its own. */
final class Run
{
    /** @var list<array{Coroutine, \Throwable}> failures that no code has handled */
    private array $lost = [];

    public function __construct(private readonly int $limit, private readonly int $to_end, private readonly bool $may_leave_descriptors)
    {
        extension_loaded('spindle') || throw new \LogicException('spindle/phpunit needs the PHP extension spindle, which is not loaded');
    }

    /** Runs the test, and returns what it returns. @throws \Throwable what it throws, or what is wrong with what it leaves */
    public function of(\Closure $test): mixed
    {
        $before = self::ids();
        $descriptors = self::descriptors();
        $scope = new Scope();
        $scope->setExceptionHandler(function (Scope $scope, Coroutine $coroutine, \Throwable $failure): void {
            $this->lost[] = [$coroutine, $failure];
        });
        $output = '';
        $running = $scope->spawn(static function () use ($test, &$output): mixed {
            ob_start();
            try {
                return $test();
            } finally {
                while (ob_get_level() > 1) {
                    ob_end_flush();
                }
                $output = ob_get_clean();
            }
        });
        try {
            try {
                $result = $this->limit > 0 ? await($running, timeout($this->limit)) : await($running);
            } catch (TimeoutException $late) {
                throw $running->isCompleted() ? $late : self::failure("The test has taken longer than $this->limit ms. These have not ended:\n" . self::list($before, $running));
            }
            $left = $this->left($scope, $before);
        } finally {
            unset($test, $running);
            $this->end($scope, $before);
            echo $output;
        }
        foreach ($this->lost as [$coroutine, $failure]) {
            throw $failure instanceof AssertionFailedError || $failure instanceof SkippedTest || $failure instanceof IncompleteTest ? $failure
                : self::failure("The coroutine spawned at {$coroutine->getSpawnLocation()} has failed, and nothing handles that: " . self::said($failure), $failure);
        }
        if ($left !== '') {
            throw self::failure($left);
        }
        if (!$this->may_leave_descriptors) {
            gc_collect_cycles();
            $open = array_diff_assoc(self::descriptors(), $descriptors);
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
        } catch (\Throwable) {
        }
        $this->lost = $lost;
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
