<?php
/*
 * The workers examples/queue-*.php, of which docs/queues.md promises: a job is done at least once and, where its effects are in the
 * database of the queue, not twice; one that fails or ends its worker again and again is put aside; SIGTERM ends no job.
 */

declare(strict_types=1);

namespace Examples;

require __DIR__ . '/queue-servers.php';

const TRIES = 3;

/** A queue with its workers, in a folder of its own. The handler that they have writes down which jobs begin and end. */
final class Workers
{
    /** @var array<int, resource> by process ids */
    private array $processes = [];
    private string $folder;

    public function __construct(private readonly string $program, public readonly Queue $queue)
    {
        $this->folder = WORK . "/queue-$program-" . bin2hex(random_bytes(4));
        mkdir($this->folder);
        file_put_contents("$this->folder/handler.php", sprintf('<?php const FOLDER = %s; return require %s;', var_export($this->folder, true), var_export(__DIR__ . '/queue-handler.php', true)));
        register_shutdown_function($this->kill(...), SIGKILL);
    }

    /** Starts one, and returns its process id. */
    public function start(array $environment = []): int
    {
        $command = [PHP_BINARY, ...$this->queue->settings(), '-d', 'extension=' . EXTENSION, ROOT . "/examples/queue-$this->program.php", "$this->folder/handler.php"];
        $output = ['file', "$this->folder/output", 'a'];
        $process = proc_open($command, [['file', '/dev/null', 'r'], $output, $output], $pipes, null, $this->queue->environment() + $environment + getenv());
        $this->processes[$id = proc_get_status($process)['pid']] = $process;
        return $id;
    }

    public function kill(int $signal, ?int $only = null): void
    {
        foreach ($this->processes as $id => $process) {
            $only === null || $only === $id and proc_terminate($process, $signal);
        }
    }

    /** @return list<string> how those have ended that have since the last time */
    public function ended(): array
    {
        $ended = [];
        foreach ($this->processes as $id => $process) {
            $status = proc_get_status($process);
            if (!$status['running']) {
                $ended[] = $status['signaled'] ? "by signal {$status['termsig']}" : "with status {$status['exitcode']}";
                unset($this->processes[$id]);
            }
        }
        return $ended;
    }

    /** SIGTERM, and their ends, which have to be in order. */
    public function stop(): void
    {
        $this->kill(SIGTERM);
        $ended = [];
        $this->until('the workers end', function () use (&$ended): bool {
            array_push($ended, ...$this->ended());
            return $this->processes === [];
        });
        array_unique($ended) === ['with status 0'] || throw new \Exception('ended ' . implode(', ', $ended) . ': ' . substr($this->output(), -2000));
    }

    /** Lets jobs end that are called "hold …". */
    public function release(): void
    {
        touch("$this->folder/released");
    }

    /** @return array<string, int> how often each job has begun ("begin"), or ended in order ("end") */
    public function log(string $what, string $process = '\d+'): array
    {
        preg_match_all("/^$what $process (.*)$/m", (string) @file_get_contents("$this->folder/log"), $lines);
        return array_count_values($lines[1]);
    }

    public function output(): string
    {
        return (string) @file_get_contents("$this->folder/output");
    }

    /** Waits for something that happens sooner or later. */
    public function until(string $what, callable $condition): void
    {
        for ($since = time(); !$condition(); usleep(20_000)) {
            time() - $since < 120 || throw new \Exception(sprintf(
                "%s: not in 120 seconds; %d jobs left, put aside: %s; the output:\n%s", $what, $this->queue->left(),
                json_encode($this->queue->dead()), substr($this->output(), -2000),
            ));
        }
    }
}

/** @return list<string> */
function named(string $word, int $count): array
{
    return array_map(static fn (int $number) => "$word $number", range(1, $count));
}

/** A worker is killed in the middle of jobs, and one job fails always: all others are done, and that one is put aside. */
function loses_nothing(Workers $workers): string
{
    $queue = $workers->queue;
    $lease = ['LEASE_MS' => '3000'];
    $victim = $workers->start($lease);
    $workers->until('there is a queue', $queue->is_there(...));
    $queue->put(...named('hold', 10));
    $workers->until('a worker has jobs', static fn () => count($workers->log('begin')) === 10);
    $workers->start($lease);
    $queue->put(...named('job', 100), ...['bad'], ...named('other', 100));
    $workers->until('both work', static fn () => count($workers->log('end', "(?!$victim )\d+")) > 10 && count($workers->log('end', "$victim")) > 10);
    $workers->kill(SIGKILL, $victim);
    $workers->until('it is dead', static fn () => $workers->ended() === ['by signal 9']);
    $workers->release();
    $workers->until('all is done', static fn () => count($workers->log('end')) === 210 && $queue->dead() === ['bad'] && $queue->left() === 0);
    $workers->stop();
    same(TRIES, $workers->log('begin')['bad']);
    $begun = array_filter($workers->log('begin'), static fn (int $times) => $times > 1);
    unset($begun['bad']);
    $queue instanceof PostgresQueue && same(['1' => 210], array_count_values($queue->effects()));
    return sprintf('%d of 210 jobs began again', count($begun));
}

/** A job ends its worker each time: it is put aside, too. */
function survives_what_ends_workers(Workers $workers): ?string
{
    $lease = ['LEASE_MS' => '1000'];
    $workers->start($lease);
    $workers->until('there is a queue', $workers->queue->is_there(...));
    $workers->queue->put('fatal');
    $always_one = static function () use ($workers, $lease): void {
        foreach ($workers->ended() as $ended) {
            same('by signal 9', $ended);
            $workers->start($lease); // as a service manager does
        }
    };
    $workers->until('it is put aside', static fn () => $always_one() ?? $workers->queue->dead() === ['fatal']);
    same(['fatal' => TRIES], $workers->log('begin'));
    same(0, $workers->queue->left());
    $workers->queue->put('job');
    $workers->until('the next job is done', static fn () => $always_one() ?? $workers->log('end') === ['job' => 1]);
    $workers->stop();
    return null;
}

/** SIGTERM in the middle: what has begun ends, nothing begins again, the rest stays. */
function drains(Workers $workers): string
{
    $queue = $workers->queue;
    $workers->start();
    $workers->until('there is a queue', $queue->is_there(...));
    $queue->put(...named('job', 400));
    $workers->until('it works', static fn () => count($workers->log('end')) > 20);
    $workers->stop();
    $begun = $workers->log('begin');
    count($begun) < 400 || throw new \Exception('all was done before the signal');
    ksort($begun);
    $ended = $workers->log('end');
    ksort($ended);
    same($begun, $ended);
    same(400 - count($begun), $queue->left());
    $workers->start();
    $workers->until('the rest is done', static fn () => $queue->left() === 0 && count($workers->log('end')) === 400);
    $workers->stop();
    same(['1' => 400], array_count_values($workers->log('begin')));
    return sprintf('%d done before the signal, the others after it', count($begun));
}

/** A job that takes long stays with its worker, as long as it says so; when another one has it, it is cancelled. */
function beats(Workers $workers): ?string
{
    $queue = $workers->queue;
    $workers->start(['LEASE_MS' => '3000']);
    $workers->until('there is a queue', $queue->is_there(...));
    $queue->put('hold 1');
    $workers->until('it has the job', static fn () => $workers->log('begin') === ['hold 1' => 1]);
    $workers->until('the lease is shorter', static fn () => $queue->remains('hold 1') < 2500);
    $workers->until('the lease is longer', static fn () => $queue->remains('hold 1') > 2500);
    same(['hold 1' => 1], $workers->log('begin'));
    $queue->rob('hold 1');
    $workers->until('the job is cancelled', static fn () => $workers->log('cancelled') === ['hold 1' => 1]);
    $workers->until('it says why', static fn () => str_contains($workers->output(), 'another worker has taken it'));
    same([], $workers->log('end'));
    $queue->put('job');
    $workers->until('the next job is done', static fn () => $workers->log('end') === ['job' => 1]);
    $workers->stop();
    return null;
}

/** The server ends the connection in the middle of a job: it is done again, and nothing was written twice. */
function loses_connections(Workers $workers): ?string
{
    $queue = $workers->queue;
    $workers->start();
    $queue->put('hold 1');
    $workers->until('it has the job', static fn () => $workers->log('begin') === ['hold 1' => 1]);
    $workers->until('its connection is cut', static fn () => $queue->cut() === 1);
    $workers->release();
    $workers->until('all is done', static fn () => $queue->left() === 0);
    $workers->stop();
    same(['hold 1' => 2], $workers->log('begin'));
    same(['hold 1' => 1], $queue->effects());
    return null;
}

/** The server ends connections of which it hears nothing; it hears of a worker all of whose jobs take long. */
function beats_of_a_connection(Workers $workers): ?string
{
    $queue = $workers->queue;
    $workers->start(['HEARTBEAT_S' => '2']);
    $workers->until('there is a queue', $queue->is_there(...));
    $queue->put(...named('hold', 30));
    $workers->until('all places are taken', static fn () => count($workers->log('begin')) === 20);
    $queue->wait_for_the_cut_of_a_silent_one(2);
    $workers->release();
    $workers->until('all is done', static fn () => count($workers->log('end')) === 30 && $queue->left() === 0);
    $workers->stop();
    same(['1' => 30], array_count_values($workers->log('begin')));
    return null;
}

foreach (['redis', 'postgres', 'rabbitmq'] as $program) {
    $case = static function (callable $tried) use ($program): callable {
        return static function () use ($tried, $program): ?string {
            $workers = new Workers($program, queue($program));
            try {
                return $tried($workers);
            } finally {
                $workers->kill(SIGKILL); // of a case that has failed
            }
        };
    };
    $cases["$program: a worker is killed, and a job fails"] = $case(loses_nothing(...));
    $cases["$program: a job that ends its worker"] = $case(survives_what_ends_workers(...));
    $cases["$program: SIGTERM"] = $case(drains(...));
    $cases["$program: jobs that take long"] = $case($program === 'rabbitmq' ? beats_of_a_connection(...) : beats(...));
    $program === 'postgres' and $cases["$program: a lost connection"] = $case(loses_connections(...));
}
