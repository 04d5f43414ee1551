<?php

declare(strict_types=1);

use Revolt\EventLoop\Driver\DriverTest;
use Spindle\Revolt\SpindleDriver;

/** Revolt's contract of drivers, and what coroutines add to it. */
final class SpindleDriverTest extends DriverTest
{
    public function getFactory(): callable
    {
        return static fn (): SpindleDriver => new SpindleDriver();
    }

    public function testHandle(): void
    {
        self::assertInstanceOf(Async\Poll::class, $this->loop->getHandle());
    }

    /** @return iterable<string, array{Closure(SpindleDriver, string): mixed}> */
    public function changes(): iterable
    {
        yield 'the last callback is cancelled' => [static fn ($loop, $id) => $loop->cancel($id)];
        yield 'disabled' => [static fn ($loop, $id) => $loop->disable($id)];
        yield 'unreferenced' => [static fn ($loop, $id) => $loop->unreference($id)];
        yield 'the loop is stopped' => [static fn ($loop, $id) => $loop->stop()];
        $ends = static fn ($loop, $id) => static function () use ($loop, $id): void { $loop->cancel($id); };
        yield 'a microtask is queued' => [static fn ($loop, $id) => $loop->queue($ends($loop, $id))];
        yield 'deferred' => [static fn ($loop, $id) => $loop->defer($ends($loop, $id))];
        yield 'a delay is added' => [static fn ($loop, $id) => $loop->delay(0.001, $ends($loop, $id))];
        yield 'a stream is added' => [function ($loop, $id): void {
            [$stream, $peer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            $loop->onWritable($stream, function (string $own) use ($loop, $id, $peer): void {
                $loop->cancel($own);
                $loop->cancel($id);
            });
        }];
    }

    /** @dataProvider changes */
    public function testAChangeByAnotherCoroutineEndsTheWait(Closure $change): void
    {
        [$stream, $peer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        foreach (['a stream', 'a timer that is never due'] as $what) {
            $id = $what === 'a stream' ? $this->loop->onReadable($stream, static fn () => null)
                : $this->loop->delay(INF, static fn () => null);
            $other = Async\spawn(fn () => $change($this->loop, $id));
            $this->loop->run();
            self::assertTrue($other->isCompleted());
            $this->loop->cancel($id);
        }
    }

    public function testCoroutinesRunWhileTheLoopIsBusy(): void
    {
        [$reader, $writer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $other = Async\spawn(static fn (): string => (string) fread($reader, 1));
        Async\spawn(static fn () => fwrite($writer, 'x'));
        $tick = function () use (&$tick, $other): void {
            $other->isCompleted() || $this->loop->defer($tick);
        };
        $this->loop->defer($tick);
        $this->loop->run();
        self::assertSame('x', Async\await($other));
    }

    public function testSeveralCallbacksOfAStream(): void
    {
        [$stream, $peer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        foreach (['onReadable', 'onWritable'] as $watch) {
            fwrite($peer, 'x');
            $called = '';
            $ids = [];
            foreach (['a', 'b', 'c'] as $name) {
                $ids[$name] = $this->loop->$watch($stream, static function () use (&$called, $name): void { $called .= $name; });
            }
            $turn = function () use (&$called): string {
                $called = '';
                $this->loop->defer(fn () => $this->loop->stop());
                $this->loop->run();
                return $called;
            };
            self::assertSame('abc', $turn());
            $this->loop->disable($ids['b']);
            self::assertSame('ac', $turn());
            $this->loop->cancel($ids['a']);
            self::assertSame('c', $turn());
            $this->loop->enable($ids['b']);
            self::assertSame('cb', $turn());
            $this->loop->cancel($ids['c']);
            self::assertSame('b', $turn());
            $this->loop->cancel($ids['b']);
            self::assertSame('', $turn());
        }
        // A stream that was closed can be left in any order.
        $ids = [$this->loop->onReadable($stream, static fn () => null), $this->loop->onReadable($stream, static fn () => null)];
        $turn();
        fclose($stream);
        array_map($this->loop->cancel(...), $ids);
        self::assertSame('', $turn());
    }

    public function testAStreamThatWasClosedIsAnError(): void
    {
        [$stream, $peer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $id = $this->loop->onReadable($stream, static fn () => null);
        $this->loop->defer(static fn () => fclose($stream) ? null : null);
        try {
            $this->loop->run();
            self::fail('the loop has ended');
        } catch (Error $error) {
            self::assertStringContainsString('closed', $error->getMessage());
        }
        $this->loop->cancel($id);
        $this->loop->run();
    }
}
