<?php

namespace App\Jobs;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Support\Facades\{App, DB};
use function Async\spawn;

/** Notes in the database that it has been handled, and does what it is told besides. */
final class Numbered implements ShouldQueue
{
    use InteractsWithQueue, Queueable;

    /** What is an instance's own: no other job runs in this one meanwhile. */
    private static ?int $running = null;

    public bool $failOnTimeout;

    public function __construct(private int $n, private string $do)
    {
        $this->failOnTimeout = in_array($do, ['long, once', 'in a transaction', 'charge'], true);
    }

    public function handle(): void
    {
        $began = microtime(true);
        [self::$running, $before] = [$this->n, self::$running];
        App::instance('number', $this->n);
        touch(storage_path("app/began-$this->n"));
        try {
            $this->do();
        } finally {
            $alone = $before === null && self::$running === $this->n && app('number') === $this->n;
            self::$running = null;
        }
        DB::table('handled')->insert(['number' => $this->n, 'began' => $began, 'ended' => microtime(true), 'pid' => getmypid(), 'alone' => $alone]);
    }

    private function do(): void
    {
        match ($this->do) {
            'wait' => usleep(50_000),
            'fail' => throw new \DomainException("job $this->n fails"),
            'fail once' => $this->attempts() > 1 || throw new \DomainException("job $this->n fails once"),
            'exit' => exit(3),
            'exit when told' => $this->until(storage_path('app/told')) ?? exit(3),
            'lose' => throw new \RuntimeException('SQLSTATE[HY000]: General error: 2006 MySQL server has gone away'),
            'long', 'long, once' => sleep(60),
            'until told' => $this->until(storage_path('app/told')),
            // What they do when they are cancelled.
            'in a transaction' => DB::transaction(fn () => DB::table('notes')->insert(['of' => 'job', 'text' => 'late']) && sleep(60)),
            'charge' => $this->until(storage_path('app/told')) ?? touch(storage_path('app/charged')),
            'swallow' => $this->attempts() > 1 || $this->swallows(1),
            'swallow two' => $this->attempts() > 1 || $this->swallows(2),
            'release' => $this->swallows(1) ?? $this->release(3600),
            'fail itself' => $this->swallows(1) ?? $this->fail(new \DomainException('by itself')),
            'child fails' => $this->attempts() > 1 || spawn(static fn () => throw new \DomainException('in a coroutine of a job')) && sleep(60),
            'memory' => ini_set('memory_limit', memory_get_usage() + 8_000_000) . str_repeat('x', 100_000_000),
        };
    }

    /** Called when the job is recorded as failed. */
    public function failed(): void
    {
        if ($this->do === 'charge') {
            touch(storage_path('app/told'));
            for ($i = 0; $i < 100 && !is_file(storage_path('app/charged')); $i++) {
                usleep(5000);
                clearstatcache();
            }
        }
    }

    /** As code that tries something often, and logs what is wrong. */
    private function swallows(int $times): void
    {
        while ($times > 0) {
            try {
                sleep(60);
            } catch (\Exception) {
                $times--;
            }
        }
    }

    private function until(string $file): void
    {
        while (!is_file($file)) {
            usleep(5000);
            clearstatcache();
        }
    }
}
