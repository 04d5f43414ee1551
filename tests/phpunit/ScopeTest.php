<?php

use Async\Http\Server;
use PHPUnit\Framework\Attributes\{DataProvider, Depends};
use PHPUnit\Framework\TestCase;
use Spindle\PHPUnit\RunsInScope;
use Spindle\Pooled\Pools;
use function Async\{await, currentScope, delay, spawn, suspend};

/** Which of them fail, and what is said then, is in `run`. */
final class ScopeTest extends TestCase
{
    use RunsInScope;

    private $kept;

    private ?Server $server = null;

    protected function setUp(): void
    {
        if (str_contains($this->nameOf(), 'Server')) {
            $this->server = (new Server())->listen('127.0.0.1:0')->handle(static fn () => 'hello');
            $this->kept = spawn($this->server->run(...));
            suspend();
        }
        if (str_contains($this->nameOf(), 'TransactionOfSetUp')) {
            $this->kept = Pools::all()->for($this, 'sqlite:', '', '', [], []);
            $this->kept->beginTransaction();
        }
    }

    protected function tearDown(): void
    {
        $this->server?->stop();
        $this->server && await($this->kept);
        $this->kept instanceof PDO && $this->kept->rollBack();
    }

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

    public function testAsksAServerOfSetUp(): void
    {
        $curl = curl_init("http://{$this->server->address()}/");
        curl_setopt($curl, CURLOPT_RETURNTRANSFER, true);
        self::assertSame(['hello', 'hello'], [curl_exec($curl), file_get_contents("http://{$this->server->address()}/")]);
    }

    public function testInTheTransactionOfSetUp(): void
    {
        self::assertTrue(true);
    }

    public function testLeavesABuffer(): void
    {
        ob_start();
        echo 'printed';
        self::assertTrue(true);
    }

    public function testClosesTheBufferOfPHPUnit(): void
    {
        ob_end_clean();
        self::assertTrue(true);
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

    public function testLosesAFailureOfAnotherScope(): void
    {
        $scope = new Async\Scope();
        $scope->spawn(fn () => throw new LogicException('elsewhere')); // (elsewhere)
        delay(2);
        self::assertTrue(true);
    }

    public function testLosesOneMoreOfAnotherScope(): void
    {
        getenv('LOSE_TWO') || self::markTestSkipped('it ends the run');
        Async\globalScope()->spawn(fn () => throw new LogicException('once more'));
        delay(2);
    }

    public function testTakesAnHour(): void
    {
        ini_get('async.virtual_time') || self::markTestSkipped('it would');
        self::assertSame(0, sleep(3600));
    }

    public function testThatComesAfterThese(): void
    {
        $this->expectOutputString('');
        self::assertNull($this->kept);
    }
}
