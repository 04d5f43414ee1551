<?php
/*
 * Plays scenes with faults and judges what came of it. `run` starts it, once the servers are there.
 *
 *   php -n conduct.php [--all] [--only GLOB]... [--seed N] [--jobs N] [--log FILE] [--plan SCENE:PLAN]
 *
 * For each scene: without faults on stock PHP and with Spindle; storms (a share of all calls fails in a way that
 * programs never see); each call in turn failing in each way that it may (FAULTS). With --all every call (up to
 * MOST of each function), otherwise a few that the seed chooses. --plan plays one scene with one plan and prints all.
 */
const LIMIT = 240;  // seconds, after which a scene hangs
const MOST = 25;    // calls of one function that are made to fail, one after the other, spread over all of them

/*
 * How each call may fail: what the kernel can say. A call in SPINDLES is made by Spindle for itself, so that stock PHP
 * knows no such failure. The others are compared with what stock PHP says to the same failure of a call of the same
 * family.
 */
const FAULTS = [
    'read' => ['EINTR', 'EIO', 'ECONNRESET', 'ENOMEM', 'short'],
    'write' => ['EINTR', 'EIO', 'ENOSPC', 'EPIPE', 'ECONNRESET', 'short'],
    'readv' => ['EINTR', 'EIO', 'ECONNRESET', 'short'],
    'writev' => ['EINTR', 'EIO', 'ENOSPC', 'EPIPE', 'ECONNRESET', 'short'],
    'pread' => ['EINTR', 'EIO', 'ENOMEM', 'short'],
    'pwrite' => ['EINTR', 'EIO', 'ENOSPC', 'short'],
    'preadv' => ['EINTR', 'EIO', 'short'],
    'preadv2' => ['EAGAIN', 'EINTR', 'EIO', 'EOPNOTSUPP', 'short'],
    'pwritev' => ['EINTR', 'EIO', 'ENOSPC', 'short'],
    'pwritev2' => ['EAGAIN', 'EINTR', 'EIO', 'ENOSPC', 'EPIPE', 'EOPNOTSUPP', 'short'],
    'recv' => ['EINTR', 'ECONNRESET', 'ETIMEDOUT', 'ENOMEM', 'short'],
    'recvfrom' => ['EINTR', 'ECONNRESET', 'ENOMEM', 'short'],
    'recvmsg' => ['EINTR', 'ECONNRESET', 'ENOMEM'],
    'send' => ['EINTR', 'EPIPE', 'ECONNRESET', 'ENOMEM', 'short'],
    'sendto' => ['EINTR', 'EPIPE', 'ECONNRESET', 'ENOMEM', 'short'],
    'sendmsg' => ['EINTR', 'EPIPE', 'ECONNRESET', 'ENOMEM'],
    'accept' => ['EINTR', 'ECONNABORTED', 'EMFILE', 'ENOMEM'],
    'connect' => ['EINTR', 'ECONNREFUSED', 'ETIMEDOUT', 'ENETUNREACH', 'ENOMEM'],
    'close' => ['EINTR', 'EIO'],
    'flock' => ['EINTR', 'ENOLCK', 'ENOMEM'],
    'fcntl_lock' => ['EINTR', 'ENOLCK'],
    'fsync' => ['EIO', 'ENOSPC', 'EINTR'],
    'fdatasync' => ['EIO', 'ENOSPC', 'EINTR'],
    'socket' => ['EMFILE', 'ENFILE', 'ENOMEM'],
    'socketpair' => ['EMFILE', 'ENFILE', 'ENOMEM'],
    'pipe' => ['EMFILE', 'ENFILE'],
    'dup' => ['EMFILE', 'EINTR'],
    'open' => ['EINTR', 'EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'ENOSPC'],
    'fork' => ['EAGAIN', 'ENOMEM'],
    'getaddrinfo' => ['EAI_AGAIN', 'EAI_MEMORY', 'EAI_FAIL'],
    'waitpid' => ['EINTR'],
    'poll' => ['EINTR', 'ENOMEM'],
    'select' => ['EINTR', 'ENOMEM'],
    // Spindle's own
    'fcntl_dup' => ['EMFILE'],
    'epoll_create' => ['EMFILE', 'ENFILE', 'ENOMEM'],
    'epoll_ctl' => ['ENOMEM', 'ENOSPC'],
    'epoll_wait' => ['EINTR', 'stale'],
    'eventfd' => ['EMFILE', 'ENFILE', 'ENOMEM'],
    'mmap' => ['ENOMEM'],
    'mprotect' => ['ENOMEM'],
    'madvise' => ['EINVAL', 'ENOMEM'],
    'pthread_create' => ['EAGAIN'],
    'posix_spawn' => ['EAGAIN', 'ENOMEM'],
    'pidfd_open' => ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOSYS'],
];

/** Which calls of stock PHP a call of Spindle's stands for. */
const FAMILIES = [
    'read' => ['read', 'readv', 'pread', 'preadv', 'preadv2', 'recv', 'recvfrom', 'recvmsg'],
    'write' => ['write', 'writev', 'pwrite', 'pwritev', 'pwritev2', 'send', 'sendto', 'sendmsg'],
    'waiting' => ['poll', 'select'],
];

/** What no program ever sees anything of, if it sees nothing of it on stock PHP. */
const STORMS = [
    'EINTR' => ['EINTR' => 20],
    'EINTR of its own calls' => ['EINTR' => 40],
    'short' => ['short' => 60],
    'again' => ['EAGAIN' => 50, 'stale' => 50],
    'mixed' => ['short' => 30, 'EAGAIN' => 30, 'stale' => 30],
];

final class Run
{
    public int $status = 0;
    public int $signal = 0;
    public string $output = '';
    public ?array $result = null;
    public array $calls = [];        // call => how often
    public array $injected = [];     // "call number what"
    public bool $hung = false;

    public function __construct(public readonly string $scene, public readonly bool $stock, public readonly string $plan,
        public readonly int $seed, public readonly int $descriptors = 0) {}

    /** What is wrong with any run, whatever failed in it. */
    public function wreck(): ?string
    {
        return match (true) {
            $this->hung => 'hangs',
            $this->signal > 0 => "killed by signal $this->signal",
            (bool) preg_match('/panicked at|Sanitizer|memory allocation of|double free|corrupted/', $this->output) => 'crashes',
            $this->result === null && !preg_match('/Fatal error: \S/', $this->output) => "ends with status $this->status without a message",
            default => null,
        };
    }

    /** Everything that was told: what the copies threw, and warnings. */
    public function told(): array
    {
        if ($this->result === null) {
            preg_match('/Fatal error: +([^\n]*)/', $this->output, $m);
            return ['fatal: ' . preg_replace(['~/\S*/~', '/\d+/'], ['/', '#'], $m[1] ?? '?')];
        }
        $told = $this->result['warnings'];
        foreach ($this->result['outcomes'] as $outcome) {
            if (isset($outcome['threw'])) {
                $told[] = $outcome['threw'];
            }
        }
        return array_values(array_unique($told));
    }

    /** Do copies answer what they do not without faults? */
    public function wrong(Run $reference): array
    {
        $wrong = [];
        $failed = false;
        foreach ($this->result['outcomes'] ?? [] as $copy => $outcome) {
            if (isset($outcome['threw'])) {
                $failed = true;
            } elseif ($outcome !== $reference->result['outcomes'][$copy]) {
                array_push($wrong, ...self::differences($outcome['answer'], $reference->result['outcomes'][$copy]['answer']));
            }
        }
        if ($this->result !== null && !$failed && $this->result['after'] !== $reference->result['after']) {
            $wrong[] = 'after all ' . json_encode($this->result['after']) . ' instead of ' . json_encode($reference->result['after']);
        }
        return $wrong;
    }

    /** Where an answer is not the right one, and how, without what differs from copy to copy. */
    private static function differences(mixed $answer, mixed $right, string $at = 'answer'): array
    {
        if (is_array($answer) && is_array($right) && array_keys($answer) === array_keys($right)) {
            $all = array_map(fn($key) => self::differences($answer[$key], $right[$key], "{$at}[$key]"), array_keys($answer));
            return array_merge(...$all);
        }
        if ($answer === $right) {
            return [];
        }
        return [$at . ' is ' . (is_string($answer) && $answer !== '' ? 'another text' : json_encode($answer))];
    }

    public function leaks(Run $reference): ?string
    {
        if ($this->result === null) {
            return null;
        }
        ['descriptors' => $open, 'children' => $children, 'coroutines' => $live] = $this->result['left'];
        $extra = $open;
        foreach ($reference->result['left']['descriptors'] as $known) {
            $at = array_search($known, $extra, true);
            if ($at !== false) {
                unset($extra[$at]);
            }
        }
        return match (true) {
            $live > 1 => $live - 1 . ' coroutines are left',
            $children !== [] => 'children are left: ' . implode(', ', $children),
            $extra !== [] => 'descriptors are left: ' . implode(', ', $extra),
            default => null,
        };
    }
}

/** Runs processes, some at a time. */
final class Stage
{
    private array $running = [];
    private int $count = 0;

    public function __construct(private readonly int $jobs, private readonly string $work, private readonly array $php,
        private readonly string $extension, private readonly string $faults) {}

    /** @param callable(Run): void $then */
    public function play(Run $run, callable $then): void
    {
        while (count($this->running) >= $this->jobs) {
            $this->look();
        }
        $base = "$this->work/tmp/run" . ++$this->count;
        mkdir($base); // process ids, and so the names in it, come again
        $own = $run->stock ? [] : ['-d', "extension=$this->extension", '-d', 'async.interpose_exclude=' . basename($this->faults), '-d', "async.seed=$run->seed"];
        $command = ['setsid', ...$this->php, ...$own, '-d', "extension=$this->faults", '-d', 'display_errors=1', '-d', 'log_errors=0',
            '-d', 'html_errors=0', __DIR__ . '/scene.php', $run->scene];
        $environment = [
            'MATRIX_TMP' => $base, 'MATRIX_ASYNC' => $run->stock ? '' : '1', 'SCENE_OUT' => "$base.json", 'SCENE_DESCRIPTORS' => $run->stock ? 1000 : $run->descriptors,
            'SPINDLE_FAULTS' => $run->plan, 'SPINDLE_FAULTS_SEED' => $run->seed, 'SPINDLE_FAULTS_REPORT' => "$base.report",
            'SPINDLE_FAULTS_IN' => $run->stock ? '' : basename($this->extension),
        ] + getenv();
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['file', "$base.out", 'w'], ['redirect', 1]], $pipes, null, $environment);
        $this->running[] = [$process, proc_get_status($process)['pid'], microtime(true) + LIMIT, $base, $run, $then];
    }

    public function finish(): void
    {
        while ($this->running !== []) {
            $this->look();
        }
    }

    private function look(): void
    {
        usleep(2000);
        foreach ($this->running as $key => [$process, $pid, $deadline, $base, $run, $then]) {
            $status = proc_get_status($process);
            if ($status['running'] && microtime(true) > $deadline) {
                $run->hung = true;
                posix_kill(-$pid, SIGKILL);
                posix_kill($pid, SIGKILL);
                continue;
            }
            if ($status['running']) {
                continue;
            }
            unset($this->running[$key]);
            posix_kill(-$pid, SIGKILL); // what it left behind
            [$run->status, $run->signal] = [$status['exitcode'], $status['signaled'] ? $status['termsig'] : 0];
            $run->output = (string) file_get_contents("$base.out");
            $run->result = is_file("$base.json") ? json_decode(file_get_contents("$base.json"), true) : null;
            foreach (is_file("$base.report") ? file("$base.report", FILE_IGNORE_NEW_LINES) : [] as $line) {
                $words = explode(' ', $line, 3);
                match ($words[0]) {
                    'calls' => $run->calls[$words[1]] = (int) $words[2],
                    'injected' => $run->injected[] = "$words[1] $words[2]",
                    default => null,
                };
            }
            array_map(unlink(...), [...glob("$base.*"), ...glob("$base/*")]);
            rmdir($base);
            $then($run);
        }
    }
}

final class Play
{
    public int $passed = 0;
    public int $failed = 0;
    public int $skipped = 0;
    public int $injected = 0;
    /** How many ended how: right, told, fatal. */
    public array $ends = [];
    private array $stock_told = [];
    private array $stock_leaks = [];
    /** @var list<callable(): void> */
    private array $unsettled = [];

    public function __construct(private readonly Stage $stage, private readonly bool $all, private readonly int $seed, private $log) {}

    private function say(string $line): void
    {
        echo "$line\n";
        $this->note($line);
    }

    private function note(string $line): void
    {
        $this->log === null or fwrite($this->log, "$line\n");
    }

    private function ok(string $what): void
    {
        $this->passed++;
        $this->note("ok    $what");
    }

    private function fail(string $what, Run $run): void
    {
        $this->failed++;
        $this->say("FAIL  $what");
        $this->say("          tests/extensions/run --faults --plan '$run->scene:$run->plan' --seed $run->seed" . ($run->stock ? '   (stock)' : ''));
        foreach (array_slice(array_filter(explode("\n", $run->output)), 0, 6) as $line) {
            $this->say('          | ' . substr($line, 0, 200));
        }
    }

    public function skip(string $scene, string $why): void
    {
        $this->skipped++;
        $this->say("skip  $scene: $why");
    }

    /** @return array{Run, Run} without faults: stock, Spindle */
    private function references(string $scene): array
    {
        $references = [];
        foreach ([true, false] as $stock) {
            $this->stage->play(new Run($scene, $stock, '', $this->seed, 1000), function (Run $run) use (&$references) {
                $references[$run->stock] = $run;
            });
        }
        $this->stage->finish();
        return [$references[true], $references[false]];
    }

    public function scene(string $scene): void
    {
        $start = microtime(true);
        $before = [$this->passed, $this->failed, $this->injected];
        [$stock, $spindle] = $this->references($scene);
        foreach ([$stock, $spindle] as $run) {
            if ($run->wreck() !== null || $run->result === null || $run->told() !== []) {
                $this->fail("$scene: without faults: " . ($run->wreck() ?? json_encode($run->told())), $run);
                return;
            }
        }
        if ($stock->result['outcomes'] !== $spindle->result['outcomes'] || $stock->result['after'] !== $spindle->result['after']) {
            $this->fail("$scene: without faults: other answers than stock PHP's: " . json_encode($spindle->result), $spindle);
            return;
        }
        $this->ok("$scene: without faults");
        $this->storms($scene, $stock, $spindle);
        $this->in_turn($scene, $stock, $spindle);
        $this->stage->finish();
        $this->say(sprintf('      %-10s %4d passed, %2d failed, %6d faults injected, %.1f s', $scene, $this->passed - $before[0],
            $this->failed - $before[1], $this->injected - $before[2], microtime(true) - $start));
    }

    private function storms(string $scene, Run $stock, Run $spindle): void
    {
        $hangs = self::stock_hangs($scene);
        foreach (STORMS as $storm => $shares) {
            $plan = [];
            foreach (FAULTS as $call => $faults) {
                foreach ($shares as $fault => $share) {
                    // Where EAGAIN is no refusal: a file that is not in the cache.
                    $may = $fault !== 'EAGAIN' || in_array($call, ['preadv2', 'pwritev2'], true);
                    if ($storm === 'EINTR of its own calls') {
                        $may = in_array($call, ['epoll_wait', 'close', 'poll', 'select', 'waitpid'], true);
                    }
                    if ($may && in_array($fault, $faults, true) && ($this->all || !in_array($fault, $hangs, true))) {
                        $plan[] = "$call:$share%=$fault";
                    }
                }
            }
            for ($n = 0; $n < ($plan === [] ? 0 : ($this->all ? 10 : 1)); $n++) {
                $run = new Run($scene, false, implode(',', $plan), $this->seed + $n, count($spindle->result['left']['descriptors']));
                $this->stage->play($run, fn(Run $run) => $this->judge_storm($run, "$scene: storm of $storm", $stock, $spindle));
            }
        }
        $this->settle();
    }

    private function judge_storm(Run $run, string $what, Run $stock, Run $spindle): void
    {
        $this->injected += count($run->injected);
        $problem = $run->hung ? null : $run->wreck() ?? $run->leaks($spindle);
        // Interrupted calls of the program's are not always hidden by stock PHP either: fread() of a pipe, open().
        $may_tell = str_ends_with($what, 'storm of EINTR');
        $told = $run->hung ? ['hangs'] : [...($may_tell ? [] : $run->told()), ...$run->wrong($spindle)];
        if ($problem !== null) {
            $this->fail("$what: $problem", $run);
        } elseif ($told === []) {
            $this->ok("$what: " . count($run->injected));
        } elseif (str_ends_with($what, 'of its own calls')) {
            $this->fail("$what: " . json_encode($told), $run); // no signal of the program's came
        } else {
            $this->unsettled[] = function () use ($run, $what, $stock, $spindle, $told, $may_tell): void {
                $known = $may_tell && !$run->hung ? $this->stock_tells($run->scene, 'read', 'EINTR', $stock) : [];
                for ($n = 0; $n < 24 && array_diff($told, $known) !== []; $n++) {
                    $same = new Run($run->scene, true, $run->plan, $run->seed + $n);
                    $this->stage->play($same, function (Run $same) use (&$known, $spindle): void {
                        array_push($known, ...($same->hung ? ['hangs'] : [...$same->told(), ...$same->wrong($spindle)]));
                    });
                    $this->stage->finish();
                }
                $own = array_diff($told, $known);
                $own === [] ? $this->ok("$what: as stock: " . json_encode($told)) : $this->fail("$what: " . json_encode(array_values($own)), $run);
            };
        }
    }

    /** Faults (`// stock hangs: FAULT...` in the scene) after which stock PHP may wait for ever: judged with --all only. */
    private static function stock_hangs(string $scene): array
    {
        preg_match('~^// stock hangs: (.*)~m', file_get_contents(__DIR__ . "/scenes/$scene.php"), $m);
        return explode(' ', $m[1] ?? '');
    }

    /** What can be judged only by what stock PHP does: plays it, when nothing else is being played. */
    private function settle(): void
    {
        $this->stage->finish();
        foreach ($this->unsettled as $later) {
            $later();
        }
        $this->unsettled = [];
    }

    private static function family(string $call): array
    {
        foreach (FAMILIES as $family) {
            if (in_array($call, $family, true)) {
                return $family;
            }
        }
        return [$call];
    }

    /** What stock PHP tells, and wrongly answers, when a call of this family fails so, each one in turn. */
    private function stock_tells(string $scene, string $call, string $fault, Run $stock, int $most = 12): array
    {
        $told = [];
        foreach (self::family($call) as $one) {
            $key = "$scene $one $fault $most";
            if (!isset($this->stock_told[$key])) {
                $this->stock_told[$key] = [];
                foreach (self::numbers($stock->calls[$one] ?? 0, $most) as $number) {
                    if (in_array('hangs', $this->stock_told[$key], true)) {
                        break; // once is proof enough, and takes its time
                    }
                    $this->stage->play(new Run($scene, true, "$one:$number=$fault", $this->seed), function (Run $run) use ($key, $stock) {
                        $wreck = $run->wreck();
                        [$scene, $call, $fault] = explode(' ', $key);
                        $this->stock_leaks["$scene $call $fault"][] = $run->leaks($stock);
                        $told = $wreck === null ? [...$run->told(), ...$run->wrong($stock)] : [$wreck];
                        $this->stock_told[$key] = array_unique([...$this->stock_told[$key], ...$told]);
                    });
                }
                $this->stage->finish();
            }
            array_push($told, ...$this->stock_told[$key]);
        }
        return array_values(array_unique($told));
    }

    /** At most $most numbers of 1..$count: the first ones, and the rest spread. */
    private static function numbers(int $count, int $most): array
    {
        if ($count <= $most) {
            return $count === 0 ? [] : range(1, $count);
        }
        $numbers = range(1, intdiv($most, 2));
        for ($n = 1; $n <= $most - count($numbers); $n++) {
            $numbers[] = intdiv($most, 2) + intdiv(($count - intdiv($most, 2)) * $n, $most - intdiv($most, 2));
        }
        return array_values(array_unique($numbers));
    }

    private function in_turn(string $scene, Run $stock, Run $spindle): void
    {
        $plans = [];
        foreach ($spindle->calls as $call => $count) {
            foreach (FAULTS[$call] ?? [] as $fault) {
                foreach (self::numbers($count, MOST) as $number) {
                    $plans[] = [$call, $number, $fault];
                }
            }
        }
        if (!$this->all) {
            $hangs = self::stock_hangs($scene);
            $plans = array_values(array_filter($plans, fn(array $plan) => !in_array($plan[2], $hangs, true)));
            // The same ones for the same seed; another scene has others.
            mt_srand($this->seed ^ crc32($scene));
            shuffle($plans);
            $plans = array_slice($plans, 0, 8);
        }
        foreach ($plans as [$call, $number, $fault]) {
            $run = new Run($scene, false, "$call:$number=$fault", $this->seed, count($spindle->result['left']['descriptors']));
            $this->stage->play($run, function (Run $run) use ($scene, $call, $number, $fault, $spindle, $stock) {
                $this->judge($run, "$scene: $call $number $fault", $call, $fault, $stock, $spindle);
            });
        }
        $this->settle();
    }

    private function judge(Run $run, string $what, string $call, string $fault, Run $stock, Run $spindle): void
    {
        $this->injected += count($run->injected);
        if ($run->injected === [] && $run->wreck() === null) {
            // A call that cannot fail so, or that was not made this time.
            $this->ends['not reached'] = ($this->ends['not reached'] ?? 0) + 1;
            return;
        }
        $problem = $run->hung ? null : $run->wreck();
        if ($problem !== null) {
            $this->fail("$what: $problem", $run);
            return;
        }
        $leak = $run->leaks($spindle);
        if ($leak !== null) {
            $this->unsettled[] = function () use ($run, $what, $call, $fault, $stock, $leak) {
                $this->stock_tells($run->scene, $call, $fault, $stock);
                $known = in_array($leak, $this->stock_leaks["$run->scene $call $fault"] ?? [], true);
                $known ? $this->ok("$what: as stock: $leak") : $this->fail("$what: $leak", $run);
            };
            return;
        }
        $told = $run->hung ? ['hangs'] : [...$run->told(), ...$run->wrong($spindle)];
        if ($told === []) {
            $this->ends['right'] = ($this->ends['right'] ?? 0) + 1;
            $this->ok("$what: right");
            return;
        }
        $wrong = $run->wrong($spindle);
        if (!$this->all && $wrong === [] && !$run->hung) {
            $this->ends['told'] = ($this->ends['told'] ?? 0) + 1;
            $this->ok("$what: told: " . json_encode($told));
            return;
        }
        $this->unsettled[] = function () use ($run, $what, $call, $fault, $stock, $told, $wrong) {
            $most = $run->hung || $wrong !== [] ? 40 : 12;
            // When Spindle cannot wait for a descriptor, it is the call that waited which fails.
            $as = $call === 'epoll_ctl' ? [['read', 'ENOMEM'], ['write', 'EIO']] : [[$call, $fault]];
            $known = array_merge(...array_map(fn(array $one) => $this->stock_tells($run->scene, ...[...$one, $stock, $most]), $as));
            $unknown = array_diff($told, $known);
            $fatal = $run->result === null;
            $kind = $fatal && !$run->hung ? 'fatal' : ($unknown === [] ? 'as stock' : 'told');
            $this->ends[$kind] = ($this->ends[$kind] ?? 0) + 1;
            if ($run->hung && $unknown !== []) {
                $this->fail("$what: hangs, as stock PHP does not", $run);
            } elseif (array_diff($wrong, $known) !== []) {
                $this->fail("$what: wrong answer, and nothing told: $wrong[0]", $run);
            } else {
                $this->ok("$what: $kind: " . json_encode($told));
            }
        };
    }
}

$options = ['all' => false, 'only' => [], 'seed' => 1, 'jobs' => 2, 'log' => null, 'plan' => null];
for ($i = 1; $i < $argc; $i++) {
    match ($argv[$i]) {
        '--all' => $options['all'] = true,
        '--only' => $options['only'][] = $argv[++$i],
        '--seed', '--jobs' => $options[substr($argv[$i], 2)] = (int) $argv[++$i],
        '--log', '--plan' => $options[substr($argv[$i], 2)] = $argv[++$i],
        default => throw new \RuntimeException("unknown argument $argv[$i]"),
    };
}
[$php, $extension, $faults, $work] = array_map(getenv(...), ['FAULTS_PHP', 'FAULTS_EXTENSION', 'FAULTS_MODULE', 'FAULTS_WORK']);
$stage = new Stage($options['jobs'], $work, [$php], $extension, $faults);

if ($options['plan'] !== null) {
    [$scene, $plan] = explode(':', $options['plan'], 2);
    foreach ([false, true] as $stock) {
        $stage->play(new Run($scene, $stock, $plan, $options['seed']), function (Run $run) {
            echo '== ', $run->stock ? 'stock PHP' : 'Spindle', "\n$run->output";
            echo json_encode($run->result, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES), "\ninjected: ", implode(', ', $run->injected), "\n";
            echo $run->wreck() ?? "status $run->status", "\n";
        });
        $stage->finish();
    }
    exit;
}

$play = new Play($stage, $options['all'], $options['seed'], $options['log'] === null ? null : fopen($options['log'], 'w'));
foreach (glob(__DIR__ . '/scenes/*.php') as $file) {
    $scene = basename($file, '.php');
    if ($options['only'] !== [] && array_filter($options['only'], fn($glob) => fnmatch($glob, $scene)) === []) {
        continue;
    }
    if (isset($missing[$scene])) {
        $play->skip($scene, $missing[$scene]);
        continue;
    }
    $play->scene($scene);
}
ksort($play->ends);
echo "      $play->injected faults were injected; the calls in turn: ",
    implode(', ', array_map(fn($end, $count) => "$count $end", array_keys($play->ends), $play->ends)), "\n";
if ($play->injected === 0) {
    echo "FAIL  no fault was injected\n";
    $play->failed++;
}
echo "$play->passed passed, $play->failed failed, $play->skipped skipped\n";
exit($play->failed === 0 && $play->passed > 0 ? 0 : 1);
