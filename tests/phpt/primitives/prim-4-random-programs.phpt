--TEST--
PRIM-1 PRIM-4 random programs of channels, selects, locks and cancellations, in random orders: each value is in one place
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, Channel, ChannelException, Future, FutureState, Mutex, Semaphore};
use function Async\{awaitAll, getCoroutines, protect, select, spawn, suspend, trySelect};

/** A program of coroutines that do random things. What it finds wrong is in $faults. */
final class Program
{
    public array $faults = [];
    /** Where each value is: 'sending', 'channel', or what received it. */
    private array $place = [];
    private array $channels = [];
    private Semaphore $permits;
    private Mutex $mutex;
    private int $holders = 0, $inside = 0, $next = 0;
    private array $coroutines = [];
    private FutureState $stop;

    public function __construct(private int $seed, int $coroutines, private int $steps)
    {
        for ($i = 0; $i < 3; $i++) {
            $this->channels[] = new Channel($this->random(3));
        }
        $this->permits = new Semaphore(2);
        $this->mutex = new Mutex;
        $this->stop = new FutureState;
        for ($i = 0; $i < $coroutines; $i++) {
            $this->coroutines[] = spawn($this->act(...), $i);
        }
        // Cancels at random, and at last all that wait.
        for ($i = 0; $i < $steps * 2; $i++) {
            suspend();
            if ($this->random(4) === 0) {
                $this->coroutines[$this->random($coroutines)]->cancel();
            }
        }
        $this->stop->complete();
        foreach ($this->coroutines as $coroutine) {
            try {
                Async\await($coroutine);
            } catch (CancellationException) {
            }
        }
        $this->check();
    }

    private function random(int $below): int
    {
        $this->seed = ($this->seed * 1103515245 + 12345) & 0x7fffffff;
        return ($this->seed >> 8) % $below;
    }

    private function act(int $number): void
    {
        $stop = new Future($this->stop);
        for ($i = 0; $i < $this->steps; $i++) {
            try {
                $this->one($number, $stop);
            } catch (CancellationException) {
                // The next wait is another one.
            } catch (Async\AwaitCancelledException) {
            }
        }
    }

    private function one(int $number, Future $stop): void
    {
        $channel = $this->channels[$this->random(3)];
        switch ($this->random(11)) {
            case 0:
            case 1:
                $this->send(fn($value) => $channel->send($value, $stop));
                break;
            case 2:
            case 3:
                $this->received($channel->recv($stop), $number);
                break;
            case 4:
                $value = $this->next++;
                $this->place[$value] = 'sending';
                $this->place[$value] = $channel->trySend($value) ? $this->place[$value] === 'sending' ? 'channel' : $this->place[$value] : 'dropped';
                break;
            case 5:
                if (($value = $channel->tryRecv()) !== null) $this->received($value, $number);
                break;
            case 6:
            case 7:
                $this->select($number, $this->random(2) ? fn($operations) => trySelect($operations) : fn($operations) => select($operations, $stop));
                break;
            case 8:
                $this->permits->with(function() {
                    if (++$this->inside > 2) $this->faults[] = 'three have permits';
                    try {
                        suspend();
                    } finally {
                        $this->inside--;
                    }
                }, $stop);
                break;
            case 9:
                $this->mutex->with(function() {
                    if (++$this->holders > 1) $this->faults[] = 'two have the mutex';
                    try {
                        suspend();
                    } finally {
                        $this->holders--;
                    }
                }, $stop);
                break;
            default:
                suspend();
        }
    }

    /** Sends a value, and notes whether it was sent. */
    private function send(callable $send): void
    {
        $value = $this->next++;
        $this->place[$value] = 'sending';
        try {
            $send($value);
        } catch (Throwable $e) {
            if ($this->place[$value] !== 'sending') $this->faults[] = "$value was received, and its sender was told otherwise";
            $this->place[$value] = 'dropped';
            throw $e;
        }
        if ($this->place[$value] === 'sending') $this->place[$value] = 'channel';
    }

    private function received(int $value, int $by): void
    {
        if (!in_array($this->place[$value], ['sending', 'channel'], true)) $this->faults[] = "$value is received by $by and was {$this->place[$value]}";
        $this->place[$value] = "received by $by";
    }

    private function select(int $number, callable $select): void
    {
        [$one, $other] = [$this->random(3), $this->random(3)];
        $value = $this->next++;
        $this->place[$value] = 'sending';
        $operations = ['out' => [$this->channels[$one], $value]];
        if ($other !== $one) $operations['in'] = $this->channels[$other];
        try {
            [$key, $got] = $select($operations) ?? ['none', null];
        } catch (Throwable $e) {
            $key = 'none';
        }
        if ($key === 'out') {
            if ($this->place[$value] === 'sending') $this->place[$value] = 'channel';
        } else {
            if ($this->place[$value] !== 'sending') $this->faults[] = "$value was received, and its select was told otherwise";
            $this->place[$value] = 'dropped';
        }
        if ($key === 'in') $this->received($got, $number);
        if (isset($e)) throw $e;
    }

    private function check(): void
    {
        foreach ($this->channels as $channel) {
            while (($value = $channel->tryRecv()) !== null) $this->received($value, -1);
            if (count($channel) > 0 || !$channel->isEmpty()) $this->faults[] = 'a channel is not empty';
        }
        foreach ($this->place as $value => $place) {
            if ($place === 'sending' || $place === 'channel') $this->faults[] = "$value is lost: $place";
        }
        if ($this->permits->available() !== 2 || $this->inside !== 0) $this->faults[] = 'a permit is lost';
        if ($this->mutex->isLocked() || $this->holders !== 0) $this->faults[] = 'the mutex is locked';
        if (count(getCoroutines()) !== 1) $this->faults[] = 'coroutines are left';
    }
}

[$first, $count] = [(int) (getenv('PROGRAM_SEED') ?: 1), (int) (getenv('PROGRAMS') ?: 60)];
for ($seed = $first; $seed < $first + $count; $seed++) {
    $program = new Program($seed, 3 + $seed % 5, 30);
    foreach ($program->faults as $fault) echo "PROGRAM_SEED=$seed: $fault\n";
}
// and in the random orders of the scheduler
foreach ([11, 12, 13] as $order) {
    if (getenv('PROGRAM_SEED') !== false) break;
    $ended = T\command("env PROGRAM_SEED=" . $order * 1000 . " PROGRAMS=20 " . T\interpreter("-d async.seed=$order") . ' ' . escapeshellarg(__FILE__));
    T\check("order $order", $ended->status === 0 && trim($ended->output) === 'end', $ended);
}
echo "end\n";
?>
--EXPECT--
order 11: yes
order 12: yes
order 13: yes
end
