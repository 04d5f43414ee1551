<?php

use PHPUnit\Framework\Attributes\{DataProvider, Depends};
use PHPUnit\Framework\TestCase;
use Spindle\PHPUnit\RunsInScope;
use function Async\{await, currentScope, delay, spawn};

/** Which of them fail, and what is said then, is in `run`. */
final class ScopeTest extends TestCase
{
    use RunsInScope;

    private $kept;

    protected function timeLimit(): int
    {
        return str_contains($this->nameOf(), 'Late') ? 30 : 10_000;
    }

    private function nameOf(): string
    {
        return method_exists($this, 'name') ? $this->name() : $this->getName();
    }

    public static function numbers(): array
    {
        return ['one' => [1, 2], 'two' => [2, 3]];
    }

    /** @dataProvider numbers */
    #[DataProvider('numbers')]
    public function testOfData(int $n, int $next): void
    {
        self::assertSame($next, await(spawn(fn () => $n + 1)));
    }

    public function testItsOwnScope(): void
    {
        self::assertNotSame(Async\globalScope(), currentScope());
        self::assertStringContainsString('testItsOwnScope', $this->nameOf());
    }

    public function testExpectsAnException(): void
    {
        $this->expectException(DomainException::class);
        $this->expectExceptionMessage('as expected');
        await(spawn(fn () => throw new DomainException('as expected')));
    }

    public function testExpectsOutput(): void
    {
        $this->expectOutputString("printed\n");
        delay(1);
        echo "printed\n";
    }

    public function testIsSkipped(): void
    {
        self::markTestSkipped('for a reason');
    }

    public function testEndsSoonAfter(): void
    {
        spawn(fn () => delay(2));
        self::assertTrue(true);
    }

    public function testFails(): void
    {
        self::assertSame(1, await(spawn(fn () => 2)));
    }

    public function testFailsInAnotherCoroutine(): void
    {
        $this->kept = spawn(fn () => self::assertSame(3, 4));
        delay(2);
        self::assertTrue(true);
    }

    public function testLosesAFailure(): void
    {
        spawn(fn () => throw new LogicException('lost')); // (loses)
        delay(2);
        self::assertTrue(true);
    }

    public function testLosesAHeldFailure(): void
    {
        $this->kept = spawn(fn () => throw new LogicException('held')); // (holds)
        delay(2);
        self::assertTrue(true);
    }

    public function testLeavesACoroutine(): void
    {
        spawn(function () { // (leaves)
            delay(3_600_000); // (is left)
        });
        delay(1);
        self::assertTrue(true);
    }

    public function testLeavesOneInTheGlobalScope(): void
    {
        $this->kept = Async\globalScope()->spawn(fn () => delay(3_600_000)); // (global)
        self::assertTrue(true);
    }

    public function testLeavesADescriptor(): void
    {
        $this->kept = fopen('/etc/hostname', 'r');
        self::assertIsResource($this->kept);
    }

    public function testClosesItsDescriptor(): void
    {
        $file = fopen('/etc/hostname', 'r');
        $cycle = new stdClass;
        $cycle->self = [$cycle, $file];
        self::assertIsResource($file);
    }

    public function testLate(): void
    {
        spawn(function () { // (beside)
            usleep(3_600_000_000); // (asleep)
        });
        self::assertTrue(true);
        delay(3_600_000); // (late)
    }

    public function testIsAskedFor(): int
    {
        self::assertSame(1, await(spawn(fn () => 1)));
        return 7;
    }

    /** @depends testIsAskedFor */
    #[Depends('testIsAskedFor')]
    public function testDependsOnIt(int $result): void
    {
        self::assertSame(7, $result);
    }

    public function testThatComesAfterThese(): void
    {
        $this->expectOutputString('');
        self::assertNull($this->kept);
    }
}
