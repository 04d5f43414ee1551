<?php
/**
 * The rows of the table: what is run for each, in which unit, against which goal.
 */

/** What a figure is held against: the plain one of the same run, or a number. */
final readonly class Goal
{
    private function __construct(public ?float $ratio, public ?float $value, private string $text) {}

    /** At most $max times the plain side. */
    public static function ratio(float $max): self
    {
        return new self($max, null, '≤ ' . ratioText($max, $max > 0.5 && $max < 1.1 ? 3 : 2) . ($max > 0.5 ? ' ×' : ''));
    }

    /** Between 0 and $max. */
    public static function value(float $max, string $unit): self
    {
        return new self(null, $max, rtrim('≤ ' . number($max, $unit) . " $unit"));
    }

    /** Null where the side to compare with is missing. */
    public function met(float $figure, ?float $ratio): ?bool
    {
        return match (true) {
            $this->value !== null => $figure >= 0 && $figure <= $this->value,
            $ratio === null => null,
            default => $ratio <= $this->ratio,
        };
    }

    public function __toString(): string
    {
        return $this->text;
    }
}

/** One row. */
class Row
{
    /** @var array{spindle: list<float>, plain: list<float>} one figure of each round */
    public array $samples = ['spindle' => [], 'plain' => []];

    /** @param list<Goal> $goals */
    public function __construct(
        public readonly string $name,
        public readonly string $unit,
        public readonly array $goals = [],
        /** Which of the figures the file prints; '' where it prints one. */
        public readonly string $metric = '',
        /** What the plain column holds, if not plain PHP. */
        public readonly string $against = '',
    ) {}

    /** Spindle's figure over the plain one. */
    public function ratio(): ?float
    {
        [$spindle, $plain] = [$this->figure('spindle'), $this->figure('plain')];
        return $spindle === null || $plain === null || $plain <= 0 ? null : $spindle / $plain;
    }

    public function figure(string $side): ?float
    {
        $samples = $this->samples[$side];
        if ($samples === []) {
            return null;
        }
        // Below zero stands for "woke early", which no other round makes good.
        return min($samples) < 0 ? min($samples) : median($samples);
    }
}

/** A row whose figures are taken both in one process, and belong together round by round: good for ratios near one. */
final class PairedRow extends Row
{
    /** @return list<float> one of each round */
    public function ratios(): array
    {
        return array_map(static fn(float $spindle, float $plain): float => $spindle / $plain,
            $this->samples['spindle'], $this->samples['plain']);
    }

    public function ratio(): ?float
    {
        return $this->samples['spindle'] === [] ? null : median($this->ratios());
    }
}

/**
 * One file of suite/ with the arguments of each side, and the rows that come of it.
 *
 * The first argument is N, the number of operations. It differs by side where the sides differ by two orders: each
 * figure is for one operation.
 */
readonly class Benchmark
{
    /** @var list<Row> */
    public array $rows;

    /**
     * @param list<int> $spindle
     * @param ?list<int> $plain null: plain PHP cannot do this
     */
    public function __construct(public string $file, public array $spindle, public ?array $plain, Row ...$rows)
    {
        $this->rows = $rows;
    }
}

/** One whose plain side is a peer: a module of others, in the folder that SPINDLE_PEERS names. */
final readonly class Beside extends Benchmark
{
    /**
     * @param list<int> $spindle
     * @param list<int> $args of the peer
     */
    public function __construct(public string $peer, string $file, array $spindle, array $args, Row ...$rows)
    {
        parent::__construct($file, $spindle, $args, ...$rows);
    }

    public function module(): ?string
    {
        return realpath(getenv('SPINDLE_PEERS') . "/$this->peer.so") ?: null;
    }
}

/** One whose file measures both sides by itself, in turns. */
final readonly class Pair extends Benchmark
{
    /**
     * @param list<int> $args
     * @param ?string $module the C file next to `run` with a PHP module that it takes
     * @param list<string> $settings of PHP, `NAME=VALUE`
     */
    public function __construct(
        string $file,
        array $args,
        public ?string $module,
        PairedRow $row,
        public array $settings = [],
    ) {
        parent::__construct($file, $args, null, $row);
    }
}

/** @return list<Benchmark> */
function benchmarks(bool $quick, int $parkedMax): array
{
    $n = static fn(int $full, int $least = 1): int => $quick ? max($least, intdiv($full, 10)) : $full;
    $all = [
        new Benchmark('spawn-finish', [$n(2_000_000)], [$n(30_000)],
            new Row('spawn+finish', 'ns', [Goal::ratio(1 / 110), Goal::value(80, 'ns')])),
        new Benchmark('spawn-suspend', [$n(500_000), 1000], [$n(30_000), 1000],
            new Row('spawn+suspend+finish, 1,000 live', 'ns', [Goal::ratio(1 / 15), Goal::value(600, 'ns')])),
        new Benchmark('spawn-suspend', [$n(500_000), 10_000], [$n(30_000, 10_000), 10_000],
            new Row('spawn+suspend+finish, 10,000 live', 'ns', [Goal::value(1200, 'ns')])),
        new Benchmark('spawn-await', [$n(1_000_000), 1000], [$n(30_000), 1000],
            new Row('spawn+await all, by 1,000', 'ns', [Goal::value(180, 'ns')])),
        new Benchmark('spawn-await', [$n(1_000_000), 1], [$n(30_000), 1],
            new Row('spawn+await of one', 'ns')),
        new Benchmark('cancel', [$n(500_000)], [$n(100_000)],
            new Row('cancel of a parked coroutine', 'ns', [Goal::value(1000, 'ns')])),
        new Benchmark('switch', [$n(5_000_000), 2], [$n(3_000_000), 2],
            new Row('yield, 2 coroutines', 'ns', [Goal::ratio(1 / 2), Goal::value(50, 'ns')])),
        new Benchmark('switch', [$n(2_000_000, 500_000), 10_000], [$n(1_000_000, 500_000), 10_000],
            new Row('yield, 10,000 coroutines', 'ns', [Goal::ratio(1 / 2)])),
        new Benchmark('timer-wall', [10_000], [10_000],
            new Row('timer: 10,000 × delay(1000)', 'ms', [Goal::value(1030, 'ms')])),
        new Benchmark('timer-delay', [$n(200_000, 20_000)], [$n(100_000, 20_000)],
            new Row('timer: one delay, CPU', 'ns')),
        new Benchmark('timer-insert', [$n(1_000_000)], [$n(500_000)],
            new Row('timer: arm and drop', 'ns')),
        new Benchmark('timer-late', [1], [1],
            new Row('timer: late after 200 ms of CPU', 'ms', [Goal::value(1, 'ms')])),
        new Benchmark('pool', [$n(1_000_000), 1], [$n(1_000_000)],
            new Row('pool: acquire, release', 'ns', [Goal::value(150, 'ns')])),
        new Benchmark('pool', [$n(1_000_000), 2], null,
            new Row('pool: hand-off to one that waits', 'ns', [Goal::value(150, 'ns')])),
        new Benchmark('files', [$n(30), 0], [$n(30), 0],
            new Row('1,000 files, in one coroutine', 'ms', [Goal::ratio(1.1)])),
        new Benchmark('files', [$n(30), 1], [$n(30), 1],
            new Row('1,000 files, a coroutine each', 'ms', [Goal::ratio(1.5)])),
        new Benchmark('names', [$n(50_000), 0], [$n(50_000), 0],
            new Row('gethostbyname of a host in /etc/hosts, CPU', 'ns', [Goal::ratio(1.2)])),
        new Benchmark('names', [$n(50_000), 1], [$n(50_000), 1],
            new Row('gethostbyaddr of one, CPU', 'ns', [Goal::ratio(1.25)])),
        new Benchmark('curl', [$n(400, 40)], [$n(400, 40)],
            new Row('cURL: request, 64 handles, CPU', 'ns', [Goal::ratio(1.1)], against: 'curl_multi')),
        new Benchmark('curl', [$n(400, 40)], [$n(400, 40), 1],
            new Row('cURL: the same, beside curl_exec alone', 'ns', [Goal::ratio(1.1)], against: 'curl_exec')),
    ];
    $all[] = new Pair('channel', [$n(1000), 0], null, new PairedRow('channel: unbuffered message / a switch and back', 'ns', [Goal::ratio(1.5)]));
    $all[] = new Benchmark('channel-buffered', [$n(2_000_000), 1000], [$n(50_000), 1000],
        new Row('channel: buffered message', 'ns', [Goal::ratio(1 / 10), Goal::value(80, 'ns')], against: 'AMPHP'));
    $all[] = new Benchmark('channel-buffered', [$n(1_000_000), 0], [$n(50_000), 0],
        new Row('channel: unbuffered message', 'ns', [Goal::ratio(1 / 10)], against: 'AMPHP'));
    $all[] = new Pair('channel', [$n(1000), 1], null, new PairedRow('select of 8 channels / recv', 'ns', [Goal::ratio(3)]));
    $all[] = new Pair('channel', [$n(1000), 2], null, new PairedRow('select of 8 channels / recv, both wait', 'ns', [Goal::ratio(3)]));
    $all[] = new Benchmark('await-all', [$n(100), 10_000], null,
        new Row('awaitAll over 10,000', 'ns', [Goal::value(150, 'ns')]));
    $all[] = new Pair('groups', [$n(300), 0], null, new PairedRow('group() of 10 / 10 spawns, awaited', 'ns', [Goal::ratio(1.5)]));
    $all[] = new Pair('groups', [$n(60), 1], null, new PairedRow('map() of 10,000 / iterate()', 'ns', [Goal::ratio(1.2)]));
    $all[] = new Benchmark('with-timeout', [$n(500_000)], null,
        new Row('withTimeout() / the call alone, the difference', 'ns', [Goal::value(300, 'ns')]));
    foreach (['' => [0, 1.03], ', in a coroutine' => [1, 1.10]] as $where => [$inside, $goal]) {
        $all[] = new Benchmark('fiber', [$n(1_000_000), $inside], [$n(1_000_000)],
            new Row("Fiber: create+start+finish$where", 'ns', [Goal::ratio($goal)], metric: 'life'),
            new Row("Fiber: suspend+resume$where", 'ns', [Goal::ratio($goal)], metric: 'switch'));
    }
    // Most of a call, and of a task that does little, is the making of generators, which both sides have: no goal of five times there.
    $kinds = [['step', 5], ['system call', 5], ['call of a generator', 0], ['a call and two steps, from newTask() on', 0],
        ['ten steps, from newTask() on', 5]];
    foreach ($kinds as $kind => [$name, $times]) {
        $all[] = new Benchmark('tasks', [$n(2_000_000), $kind], [$n(500_000), $kind],
            new Row("tasks: $name", 'ns', $times ? [Goal::ratio(1 / $times)] : []));
    }
    foreach ([100_000, 1_000_000] as $live) {
        if ($live <= $parkedMax) {
            $all[] = new Benchmark('tasks-live', [$live], [$live],
                new Row('tasks: ' . number_format($live) . ' live, resident', 'B', [Goal::value(1024, 'B')]));
        }
    }
    $all[] = new Pair('operators', [$n(1000), 0], null, new PairedRow("spawn f(\$x) / spawn('f', \$x)", 'ns'));
    $all[] = new Pair('operators', [$n(1000), 1], null, new PairedRow('spawn f($x) / spawn(f(...), $x)', 'ns'));
    $all[] = new Pair('operators', [$n(1000), 2], null, new PairedRow('await spawn f($x) / the same, called', 'ns'));
    $compiled = [
        'compile: no operators' => [0, 60, 1.005],
        'compile: the words as names' => [1, 160, 1.005],
        'compile: the words in comments' => [2, 80, 1.05],
        'compile: operators' => [3, 80, 1.05],
        'compile: operators, densely' => [4, 80, null],
    ];
    foreach ($compiled as $name => [$corpus, $rounds, $goal]) {
        $goals = $goal === null ? [] : [Goal::ratio($goal)];
        $all[] = new Pair('compile', [$n($rounds), $corpus], 'compile', new PairedRow($name, 'µs', $goals));
    }
    $opcache = ['zend_extension=opcache', 'opcache.enable_cli=1', 'opcache.memory_consumption=2000',
        'opcache.interned_strings_buffer=64', 'opcache.validate_timestamps=0',
        'opcache.file_update_protection=0'];
    foreach (['no operators' => [0, 60, 1.005], 'operators' => [3, 60, 1.05]] as $name => [$corpus, $rounds, $goal]) {
        $row = new PairedRow("compile, with opcache: $name", 'µs', [Goal::ratio($goal)]);
        $all[] = new Pair('compile-opcache', [$n($rounds), $corpus], 'compile', $row, $opcache);
    }
    foreach ([1000, 10_000, 100_000, 1_000_000] as $parked) {
        if ($parked > $parkedMax) {
            break;
        }
        $label = number_format($parked);
        $all[] = new Benchmark('parked', [$parked], $parked <= 10_000 ? [$parked] : null,
            new Row("parked, $label: resident", 'B', [Goal::value(5 * 1024, 'B')], metric: 'rss'),
            new Row("parked, $label: page tables", 'B', [Goal::value(4300, 'B')], metric: 'pte'));
    }
    // A tenth of them is there before it counts.
    $all[] = new Benchmark('idle', [$n(10_000, 5000), 0], null, new Row('idle connection: resident', 'B', [Goal::value(14 * 1024, 'B')]));
    $all[] = new Benchmark('idle', [$n(10_000, 5000), 1], null, new Row('idle connection with TLS: resident', 'B', [Goal::value(22 * 1024, 'B')]));
    $all[] = new Benchmark('queries', [1000, 200], null, new Row('handler: 1,000 × pg_sleep(0.1), 200 at once', 'ms', [Goal::value(600, 'ms')]));
    foreach (['swoole' => 'Swoole', 'swow' => 'Swow'] as $peer => $name) {
        $all[] = new Beside($peer, 'spawn-finish', [$n(2_000_000)], [$n($peer === 'swoole' ? 1_000_000 : 50_000)],
            new Row("$name: spawn+finish", 'ns', [Goal::ratio(0.4)], against: $name));
        $all[] = new Beside($peer, 'timer-wall', [10_000], [10_000],
            new Row("$name: 10,000 × delay(1000)", 'ms', [Goal::ratio(1)], against: $name));
    }
    foreach (['MySQL query', 'Redis GET'] as $kind => $what) {
        foreach (['swoole' => 'Swoole', 'swow' => 'Swow'] as $peer => $name) {
            $all[] = new Beside($peer, 'clients', [$n(1000, 200), $kind], [$n(1000, 200), $kind],
                new Row("$name: $what, 64 clients", 'µs', [Goal::ratio(1)], metric: 'wall', against: $name),
                new Row("$name: $what, CPU", 'µs', [Goal::ratio(0.9)], metric: 'cpu', against: $name));
        }
    }
    return $all;
}

/** @return array{cpu: Row, c?: Row, calls: Row, rate: Row} */
function serverRows(string $kind): array
{
    if ($kind === 'tasks') {
        return [
            'cpu' => new Row('web server of tasks: CPU per request', 'µs', [Goal::ratio(1)]),
            'calls' => new Row('web server of tasks: system calls per request', ''),
            'rate' => new Row('web server of tasks: requests per second', '/s'),
        ];
    }
    $http = $kind === 'http';
    if (in_array(strtok($kind, '-'), ['react', 'revolt'], true)) {
        $name = strtok($kind, '-') . ' echo' . (str_ends_with($kind, '-idle') ? ', ' . Servers::IDLE . ' idle' : '');
        return [
            'cpu' => new Row("$name: CPU per request", 'µs', [Goal::ratio(1.0)]),
            'calls' => new Row("$name: system calls per request", ''),
            'rate' => new Row("$name: requests per second", '/s'),
        ];
    }
    if ($kind === 'handler') { // Async\Http\Server
        return [
            'cpu' => new Row('handler: CPU per request', 'µs'),
            'c' => new Row('handler: the same, beside C', 'µs', [Goal::ratio(1.45)], against: 'C'),
            'calls' => new Row('handler: system calls per request', '', [Goal::value(2.1, '')]),
            'rate' => new Row('handler: requests per second', '/s'),
        ];
    }
    if ($kind === 'worker') { // with superglobals, 15 headers of which one is a cookie, and a call of header()
        return [
            'cpu' => new Row('worker mode: CPU per request', 'µs'),
            'c' => new Row('worker mode: the same, beside C', 'µs', [Goal::ratio(1.75)], against: 'C'),
            'calls' => new Row('worker mode: system calls per request', '', [Goal::value(2.1, '')]),
            'rate' => new Row('worker mode: requests per second', '/s'),
        ];
    }
    if ($kind === 'tls') {
        return [
            'cpu' => new Row('handler with TLS: CPU per request', 'µs', against: 'none'),
            'more' => new Row('handler with TLS: more than without', 'µs', [Goal::value(3.5, 'µs')]),
            'calls' => new Row('handler with TLS: system calls', '', [Goal::value(2.1, '')], against: 'none'),
            'rate' => new Row('handler with TLS: requests per second', '/s', against: 'none'),
        ];
    }
    if ($kind === 'peers') {
        return [
            'cpu' => new Row('peers: CPU per request', 'µs'),
            'c' => new Row('peers: handler beside C', 'µs', against: 'C'),
            'hyper' => new Row('peers: handler beside hyper', 'µs', against: 'hyper'),
            'nginx' => new Row('peers: handler beside nginx', 'µs', against: 'nginx'),
            'node' => new Row("peers: handler beside Node's http", 'µs', against: 'node'),
            'amphp' => new Row('peers: handler beside AMPHP', 'µs', against: 'amphp'),
            'react' => new Row('peers: handler beside ReactPHP', 'µs', against: 'react'),
            'rate' => new Row('peers: requests per second', '/s'),
        ];
    }
    return [
        'cpu' => new Row("$kind: CPU per request", 'µs', $http ? [Goal::ratio(1.0)] : []),
        'c' => new Row("$kind: the same, beside C", 'µs', [Goal::ratio($http ? 1.14 : 1.10)], against: 'C'),
        // Two, and a share in the wait that serves many: the C server does not get below that either.
        'calls' => new Row("$kind: system calls per request", '', [Goal::value(2.2, '')]),
        'rate' => new Row("$kind: requests per second", '/s'),
    ];
}

/** @param non-empty-list<float> $samples */
function median(array $samples): float
{
    sort($samples);
    $n = count($samples);
    return $n % 2 ? $samples[intdiv($n, 2)] : ($samples[$n / 2 - 1] + $samples[$n / 2]) / 2;
}
