<?php
/**
 * Begins a program: `php program.php FILE` runs the jobs of FILE. With Spindle each is a coroutine, and all run at once; the victims
 * are cancelled meanwhile, and only have to end.
 */
declare(strict_types=1);

namespace Compositions;

require __DIR__ . '/kit.php';
require __DIR__ . '/shared/classes.php';
require __DIR__ . '/features.php';

final class Program
{
    /** @var array<string, \Closure> */
    private array $jobs = [];
    /** @var list<array{\Closure, int}> */
    private array $victims = [];

    public function job(string $name, int $seed, \Closure $body): void
    {
        $this->jobs[$name] = static fn (): array => (new Job($name, $seed))->run($body);
    }

    /** A job that is cancelled after some turns. */
    public function victim(int $seed, int $turns, \Closure $body): void
    {
        $this->victims[] = [static fn (): array => (new Job('victim', $seed))->run($body), $turns];
    }

    /** Prints the results. $order draws the order in which coroutines begin. */
    public function run(int $order): void
    {
        if (!CONCURRENT) {
            echo \json_encode(\array_map(static fn (\Closure $job): array => $job(), $this->jobs), JSON_THROW_ON_ERROR), "\n";
            return;
        }
        $victims = [];
        foreach ($this->victims as [$body, $turns]) {
            $victims[] = $victim = \Async\spawn($body);
            \Async\spawn(static function () use ($victim, $turns): void {
                for (; $turns > 0; $turns--) {
                    \Async\suspend();
                }
                $victim->cancel();
            });
        }
        $names = (new \Random\Randomizer(new \Random\Engine\Mt19937($order)))->shuffleArray(\array_keys($this->jobs));
        $coroutines = [];
        foreach ($names as $name) {
            $coroutines[$name] = \Async\spawn($this->jobs[$name]);
        }
        $results = [];
        foreach (\array_keys($this->jobs) as $name) {
            $results[$name] = \Async\await($coroutines[$name]);
        }
        foreach ($victims as $victim) {
            try {
                \Async\await($victim);
            } catch (\Async\CancellationException) {
            }
        }
        unset($coroutines, $victims, $victim);
        // Helpers of waits that were cancelled, which may wait for a process.
        for ($end = \time() + 60; \count(\Async\getCoroutines()) > 1 && \time() < $end;) {
            \Async\suspend();
        }
        foreach (\Async\getCoroutines() as $left) {
            if ($left !== \Async\currentCoroutine()) {
                echo "left over: a coroutine spawned at {$left->getSpawnLocation()}, suspended at {$left->getSuspendLocation()}\n";
                $left->cancel();
            }
        }
        echo \json_encode($results, JSON_THROW_ON_ERROR), "\n";
    }
}

function program(): Program
{
    static $program;
    return $program ??= new Program();
}

\error_reporting(E_ALL);
require $argv[1];
