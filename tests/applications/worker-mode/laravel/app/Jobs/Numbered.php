<?php

namespace App\Jobs;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Support\Facades\{App, DB};

/** Notes in the database that it has been handled, and does what it is told besides. */
final class Numbered implements ShouldQueue
{
    use InteractsWithQueue, Queueable;

    /** What is an instance's own: no other job runs in this one meanwhile. */
    private static ?int $running = null;

    public bool $failOnTimeout;

    public function __construct(private int $n, private string $do)
    {
        $this->failOnTimeout = $do === 'long, once';
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
            'memory' => ini_set('memory_limit', memory_get_usage() + 8_000_000) . str_repeat('x', 100_000_000),
        };
    }

    private function until(string $file): void
    {
        while (!is_file($file)) {
            usleep(5000);
            clearstatcache();
        }
    }
}
