<?php
/**
 * Queries over connections that are kept, one client for each of 64 coroutines, $n queries each: µs of the clock and of CPU for
 * a query. $kind 0: `select 1` by mysqli; 1: GET by phpredis. The servers are those that SPINDLE_MYSQL_… and SPINDLE_REDIS_… name.
 */
require __DIR__ . '/../lib/suite.php';

const CLIENTS = 64;
const KINDS = [['mysqlnd', 'mysqli'], ['igbinary', 'redis']];

if (!getenv(['SPINDLE_MYSQL_PORT', 'SPINDLE_REDIS_PORT'][(int) ($argv[3] ?? 0)])) {
    exit("skipped: no server is named\n"); // scripts/servers start DIR mariadb redis; . DIR/env
}
if (!getenv('BENCH_MODULES')) {
    // Once more, with the modules that this needs and others do not. They come first: others look for what they replace.
    $arguments = explode("\0", rtrim(file_get_contents('/proc/self/cmdline'), "\0"));
    $modules = [];
    foreach (KINDS[(int) ($argv[3] ?? 0)] as $module) {
        array_push($modules, '-d', "extension=$module");
    }
    array_splice($arguments, 0, 2, ['-n', ...$modules]);
    pcntl_exec(PHP_BINARY, $arguments, ['BENCH_MODULES' => '1'] + getenv());
}
extension_loaded(KINDS[(int) ($argv[3] ?? 0)][1]) || exit("skipped: PHP has no such client\n");

/** @return Closure(int): void makes so many queries */
function client(int $kind): Closure
{
    if ($kind === 0) {
        $mysql = new mysqli(getenv('SPINDLE_MYSQL_HOST'), getenv('SPINDLE_MYSQL_USER'), getenv('SPINDLE_MYSQL_PASSWORD'), getenv('SPINDLE_MYSQL_DB'),
            (int) getenv('SPINDLE_MYSQL_PORT'));
        return static function (int $n) use ($mysql): void {
            for ($i = 0; $i < $n; $i++) {
                $row = $mysql->query('select 1')->fetch_row();
                check($row === ['1'], 'the answer is ' . json_encode($row));
            }
        };
    }
    $redis = new Redis();
    $redis->connect(getenv('SPINDLE_REDIS_HOST'), (int) getenv('SPINDLE_REDIS_PORT'));
    $redis->set('bench', 'a value');
    return static function (int $n) use ($redis): void {
        for ($i = 0; $i < $n; $i++) {
            $value = $redis->get('bench');
            check($value === 'a value', 'the answer is ' . json_encode($value));
        }
    };
}

/**
 * @param Closure(list<Closure>): void $all runs functions at once, and returns when all have
 * @return array{wall: float, cpu: float}
 */
function timed(int $n, int $kind, Closure $all, int $count = CLIENTS): array
{
    $clients = [];
    for ($i = 0; $i < $count; $i++) {
        $clients[] = client($kind);
    }
    $ran = 0;
    $run = static function (int $n) use ($clients, $all, &$ran): void {
        $runs = [];
        foreach ($clients as $client) {
            $runs[] = static function () use ($client, $n, &$ran): void {
                $client($n);
                $ran++;
            };
        }
        $all($runs);
    };
    $run(10);
    [$start, $cpu] = [now(), cpu()];
    $run($n);
    $took = ['wall' => (now() - $start) / 1e3 / $n / $count, 'cpu' => (cpu() - $cpu) / 1e3 / $n / $count];
    check($ran === 2 * $count, "$ran of " . 2 * $count . ' clients have run');
    return $took;
}

bench('µs',
    spindle: static fn(int $n, int $kind): array => timed($n, $kind, static fn(array $all) => Async\awaitAll(array_map(Async\spawn(...), $all))),
    plain: static fn(int $n, int $kind): array => timed($n * CLIENTS, $kind, static fn(array $all) => $all[0](), 1),
    swoole: inSwoole(static fn(int $n, int $kind): array => timed($n, $kind, static function (array $all): void {
        $group = new Swoole\Coroutine\WaitGroup();
        foreach ($all as $one) {
            $group->add();
            Swoole\Coroutine::create(static function () use ($one, $group): void {
                $one();
                $group->done();
            });
        }
        $group->wait();
    })),
    swow: static fn(int $n, int $kind): array => timed($n, $kind, static function (array $all): void {
        $left = new Swow\Sync\WaitReference();
        foreach ($all as $one) {
            Swow\Coroutine::run(static function () use ($one, $left): void { $one(); });
        }
        Swow\Sync\WaitReference::wait($left);
    }),
);
