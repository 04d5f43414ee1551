<?php

declare(strict_types=1);

namespace Spindle\PHPUnit;

use PHPUnit\Framework\Attributes\PreCondition;
use PHPUnit\Framework\TestCase;

/**
 * For a test case of PHPUnit: each of its tests is a coroutine in a scope of its own, and what it leaves behind fails it.
 *
 * That is a failure of another coroutine that no code has handled, a coroutine that has not ended, and a descriptor that is open. The
 * methods setUp() and tearDown() run outside of the scope: what they open and start is theirs.
 */
trait RunsInScope
{
    /** The name of the test while the name of runScoped() is in its place. */
    private ?string $nameOfTest = null;

    /** How long a test may take, in milliseconds. 0: there is no limit. With virtual time there is none. */
    protected function timeLimit(): int
    {
        return 10_000;
    }

    /** How long coroutines may take to end, and descriptors to be closed, when their test has returned, in milliseconds. */
    protected function timeToEnd(): int
    {
        return 100;
    }

    /** Whether a test may leave descriptors open, as connections that are kept in static properties. */
    protected function mayLeaveDescriptors(): bool
    {
        return false;
    }

    /** What PHPUnit 9 calls. Of later versions this is no override. */
    protected function runTest(): mixed
    {
        return $this->inScope(fn () => parent::runTest());
    }

    /** What PHPUnit 13 calls. @param array<mixed> $testArguments */
    protected function invokeTestMethod(string $methodName, array $testArguments): mixed
    {
        return $this->inScope(fn () => parent::invokeTestMethod($methodName, $testArguments));
    }

    /**
     * PHPUnit 10 to 12 have no method for this: they are given the name of runScoped() as that of the test. That is after setUp(), which may
     * ask for the name.
     *
     * @preCondition
     * @internal
     */
    #[PreCondition]
    final public function takesPlaceOfTest(): void
    {
        if (method_exists(TestCase::class, 'invokeTestMethod') || !(new \ReflectionMethod(TestCase::class, 'runTest'))->isPrivate()) {
            return;
        }
        if (!property_exists(TestCase::class, 'methodName')) {
            throw new \LogicException('spindle/phpunit does not know this version of PHPUnit');
        }
        $this->nameOfTest = $this->name();
        $this->isNamed('runScoped');
    }

    /** @internal */
    final public function runScoped(mixed ...$arguments): mixed
    {
        $name = $this->nameOfTest;
        $this->isNamed($name);
        return $this->inScope(fn () => $this->$name(...$arguments));
    }

    private function isNamed(string $name): void
    {
        \Closure::bind(function () use ($name): void {
            $this->methodName = $name;
        }, $this, TestCase::class)();
    }

    private function inScope(\Closure $test): mixed
    {
        return (new Run($this->timeLimit(), $this->timeToEnd(), $this->mayLeaveDescriptors()))->of($test);
    }
}
