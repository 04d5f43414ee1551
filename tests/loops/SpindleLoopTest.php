<?php

declare(strict_types=1);

use React\Tests\EventLoop\AbstractLoopTest;
use Spindle\React\SpindleLoop;

/** ReactPHP's contract of loops, and what coroutines add to it. */
final class SpindleLoopTest extends AbstractLoopTest
{
    public function createLoop(): SpindleLoop
    {
        return new SpindleLoop();
    }

    /** @return iterable<string, array{Closure(SpindleLoop, resource, Closure): mixed}> */
    public function changes(): iterable
    {
        yield 'the last one is removed' => [static fn ($loop, $stream, $end) => $end()];
        yield 'the loop is stopped' => [static fn ($loop, $stream, $end) => $loop->stop()];
        yield 'a tick is added' => [static fn ($loop, $stream, $end) => $loop->futureTick($end)];
        yield 'a timer is added' => [static fn ($loop, $stream, $end) => $loop->addTimer(0.001, $end)];
        yield 'a stream is added' => [static function ($loop, $stream, $end): void {
            $loop->addWriteStream($stream, static function ($stream) use ($loop, $end): void {
                $loop->removeWriteStream($stream);
                $end();
            });
        }];
    }

    /** @dataProvider changes */
    public function testAChangeByAnotherCoroutineEndsTheWait(Closure $change): void
    {
        $loop = $this->createLoop();
        [$stream, $peer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        foreach (['a stream', 'a timer that is never due', 'a signal'] as $what) {
            $timer = null;
            $ignore = static fn () => null;
            match ($what) {
                'a stream' => $loop->addReadStream($stream, $ignore),
                'a signal' => $loop->addSignal(SIGUSR1, $ignore),
                default => $timer = $loop->addTimer(INF, $ignore),
            };
            $end = static function () use ($loop, $stream, $timer, $ignore): void {
                $loop->removeReadStream($stream);
                $loop->removeSignal(SIGUSR1, $ignore);
                $timer && $loop->cancelTimer($timer);
            };
            $other = Async\spawn(static fn () => $change($loop, $stream, $end));
            $loop->run();
            self::assertTrue($other->isCompleted());
            $end();
        }
    }

    public function testTheLoopRunsAgain(): void
    {
        $loop = $this->createLoop();
        $calls = '';
        foreach (['a', 'b', 'c'] as $letter) {
            $loop->addTimer(0.001, static function () use (&$calls, $letter): void { $calls .= $letter; });
            $loop->stop();
            $loop->run();
        }
        $loop->futureTick(static function () use ($loop, &$calls): void {
            $loop->futureTick(static function () use (&$calls): void { $calls .= 'd'; });
            $loop->run();
            $calls .= 'e';
        });
        $loop->run();
        self::assertSame('abcde', $calls);
    }

    public function testOneCoroutineRunsTheLoop(): void
    {
        $loop = $this->createLoop();
        $timer = $loop->addTimer(INF, static fn () => null);
        $runner = Async\spawn($loop->run(...));
        while (!$runner->isSuspended()) {
            Async\suspend();
        }
        try {
            $loop->run();
            self::fail('it runs twice');
        } catch (LogicException) {
        }
        $loop->cancelTimer($timer);
        self::assertNull(Async\await($runner));
    }

    public function testACancelledLoopGoesOn(): void
    {
        $loop = $this->createLoop();
        $calls = 0;
        $loop->addPeriodicTimer(0.001, static function ($timer) use ($loop, &$calls): void {
            ++$calls === 3 && $loop->cancelTimer($timer);
        });
        $blocker = $loop->addTimer(INF, static fn () => null);
        $runner = Async\spawn($loop->run(...));
        while ($calls < 3) {
            Async\delay(1);
        }
        $runner->cancel();
        try {
            Async\await($runner);
            self::fail('it was not cancelled');
        } catch (Async\CancellationException) {
        }
        $loop->cancelTimer($blocker);
        $loop->addTimer(0.001, static function () use (&$calls): void { $calls++; });
        $loop->run();
        self::assertSame(4, $calls);
    }

    public function testCallbacksThatThrowLoseNoOthers(): void
    {
        $loop = $this->createLoop();
        $calls = '';
        foreach (['a', 'b', 'c'] as $letter) {
            $loop->addTimer(0.001, static function () use (&$calls, $letter): void {
                $calls .= $letter;
                throw new RuntimeException($letter);
            });
        }
        usleep(2000);
        for ($i = 0; $i < 3; $i++) {
            try {
                $loop->run();
            } catch (RuntimeException) {
            }
        }
        $loop->run();
        self::assertSame('abc', $calls);
    }

    public function testManyCancelledTimers(): void
    {
        $loop = $this->createLoop();
        $before = memory_get_usage();
        for ($i = 0; $i < 50000; $i++) {
            $loop->cancelTimer($loop->addTimer(3600, static fn () => null));
        }
        self::assertLessThan(4 << 20, memory_get_usage() - $before);
        $this->expectException(ValueError::class);
        $loop->addTimer(NAN, static fn () => null);
    }

    public function testAStreamThatWasClosedIsAnError(): void
    {
        $loop = $this->createLoop();
        [$stream, $peer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $loop->addReadStream($stream, static fn () => null);
        fclose($stream);
        try {
            $loop->run();
            self::fail('the loop has ended');
        } catch (TypeError $error) {
            self::assertStringContainsString('closed', $error->getMessage());
        }
        $loop->removeReadStream($stream);
        $loop->run();
    }
}
