<?php

/** What the tests of amphp/amp 2 use of amphp/phpunit-util, which is not packaged. */

declare(strict_types=1);

namespace Amp\PHPUnit;

class TestException extends \Exception
{
}

interface CallbackStub
{
    public function __invoke(mixed ...$arguments): mixed;
}

abstract class TestCase extends \PHPUnit\Framework\TestCase
{
    final protected function createCallback(int $count, ?callable $callback = null): callable
    {
        $mock = $this->createMock(CallbackStub::class);
        $mock->expects($this->exactly($count))->method('__invoke')->willReturnCallback($callback ?? static fn () => null);
        return $mock;
    }
}

/** Its tests run in the loop, and may be coroutines of AMPHP. */
abstract class AsyncTestCase extends TestCase
{
    private string $test = '';

    protected function runTest(): mixed
    {
        $this->test = $this->getName(false);
        $this->setName('runInLoop');
        try {
            return parent::runTest();
        } finally {
            $this->setName($this->test);
        }
    }

    final public function runInLoop(mixed ...$arguments): mixed
    {
        $result = null;
        \Amp\Loop::run(function () use (&$result, $arguments): \Generator {
            $result = yield \Amp\call([$this, $this->test], ...$arguments);
        });
        return $result;
    }
}
