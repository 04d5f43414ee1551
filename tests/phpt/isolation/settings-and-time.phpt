--TEST--
CORO-8 the process's time limit counts computing, not waiting; seeds, ticks, sessions and rewritten output are shared, with what to do instead
--EXTENSIONS--
session
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

$hog = 'function hog(int $ms) { for ($end = hrtime(true) + $ms * 1_000_000; hrtime(true) < $end; ); } ';
$ended = T\php('for ($i = 0; $i < 5; $i++) Async\spawn(fn () => Async\delay(1500)); Async\spawn(fn () => usleep(1_500_000)); Async\delay(1500); echo "waited\n";', '-d max_execution_time=1');
echo $ended;
$ended = T\php("$hog for (\$i = 0; \$i < 8; \$i++) Async\\spawn(function () { for (\$i = 0; \$i < 200; \$i++) { hog(10); Async\\suspend(); } });", '-d max_execution_time=1');
T\check('computing counts', $ended->has('Maximum execution time of 1 second exceeded') && $ended->status === 255, $ended);

// One generator of random numbers for all; an engine object is one's own.
$roll = function (callable $next): array {
    for ($rolled = [], $i = 0; $i < 4; $i++) {
        $rolled[] = $next();
        suspend();
    }
    return $rolled;
};
mt_srand(42);
$alone = [mt_rand(), mt_rand(), mt_rand(), mt_rand()];
mt_srand(42);
$shared = T\all([spawn($roll, mt_rand(...)), spawn($roll, mt_rand(...))]);
var_dump([$shared[0][0], $shared[1][0], $shared[0][1], $shared[1][1]] === $alone);
$engine = fn (): callable => (new Random\Randomizer(new Random\Engine\Mt19937(42)))->nextInt(...);
$own = T\all([spawn($roll, $engine()), spawn($roll, $engine())]);
var_dump($own[0] === $own[1] && $own[0] === (function () use ($engine): array {
    $next = $engine();
    return [$next(), $next(), $next(), $next()];
})());

// Ticks: registered for all, in files that declare them
$ended = T\php(<<<'PHP'
    declare(ticks=1);
    $ticks = [];
    $waiting = false;
    register_tick_function(function () use (&$ticks, &$waiting): void {
        $id = Async\currentCoroutine()->getId();
        $ticks[$id] = ($ticks[$id] ?? 0) + 1;
        if ($waiting) {
            Async\delay(1); // may wait; others' statements do not tick meanwhile
        }
    });
    $task = function () {
        for ($i = 0; $i < 10; $i++) {
            Async\suspend();
        }
    };
    Async\await(Async\spawn($task));
    Async\await(Async\spawn($task));
    echo array_keys($ticks) === [1, 2, 3] && $ticks[2] === $ticks[3] && $ticks[2] >= 10 ? "each\n" : json_encode($ticks) . "\n";
    $waiting = true;
    $done = 0;
    $jobs = [Async\spawn(function () use ($task, &$done) { $task(); $done++; }), Async\spawn(function () use ($task, &$done) { $task(); $done++; })];
    foreach ($jobs as $job) {
        Async\await($job);
    }
    echo "$done done\n";
    PHP);
echo $ended;

// One session a request
$folder = T\work_in();
$ended = T\php(<<<'PHP'
    $first = Async\spawn(function (): array {
        session_start();
        $_SESSION['mine'] = 1;
        Async\suspend();
        return array_keys($_SESSION);
    });
    $second = Async\spawn(function (): string {
        @session_start();
        $_SESSION['other'] = 1;
        return error_get_last()['message'];
    });
    $results = [Async\await($first), Async\await($second)];
    session_destroy();
    echo json_encode($results), "\n";
    PHP, "-d session.use_cookies=0 -d session.save_path=$folder");
echo $ended;

// A rewritten variable is added to the output of whoever asked first.
$page = fn (string $name): string => (function () use ($name): string {
    ob_start();
    output_add_rewrite_var($name, '1');
    echo '<form></form>';
    suspend();
    while (ob_get_level() > 1) {
        ob_end_flush();
    }
    return ob_get_clean();
})();
$pages = T\all([spawn($page, 'a'), spawn($page, 'b')]);
echo json_encode($pages), "\n";

// ob_implicit_flush() is a flag of the process: it flushes what is sent, not the buffers of others.
$flushed = T\all([
    spawn(function (): void {
        ob_implicit_flush();
        suspend();
        ob_implicit_flush(false);
    }),
    spawn(function (): string {
        ob_start();
        echo 'kept';
        suspend();
        return ob_get_clean();
    }),
]);
echo json_encode($flushed), "\n";
?>
--EXPECTF--
[0] waited
computing counts: yes
bool(true)
bool(true)
[0] each
2 done
[0] [["mine","other"],"session_start(): Ignoring session_start() because a session is already active%r( \(started from .*?\))?%r"]
["<form><input type=\"hidden\" name=\"a\" value=\"1\" \/><input type=\"hidden\" name=\"b\" value=\"1\" \/><\/form>","<form><\/form>"]
[null,"kept"]
