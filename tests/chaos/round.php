<?php
/*
 * One round: php round.php SEED. Coroutines at all kinds of I/O with real servers, many at once, half of them in scopes;
 * a share of them is cancelled at some moment, alone or with its scope. Who was not cancelled has the right answer;
 * nothing is left afterwards.
 *
 * The works are the scenes of tests/faults, whose answers are known, and the kinds of suspension of tests/ext-matrix,
 * which only get in the way. `run` sets async.seed and, for some rounds, faults that no program may see.
 */
namespace Matrix;

use Async;

require __DIR__ . '/../extensions/lib.php';
require __DIR__ . '/../ext-matrix/kinds.php';
require __DIR__ . '/../faults/lib.php';

const WORKS = 240;
const PARTS = 4;
const COPIES = 3;

\error_reporting(E_ALL);
$warning = 'none';
\set_error_handler(static function (int $level, string $message) use (&$warning): bool {
    $warning = $message; // no problem by itself: a cancelled call may warn
    return true;
});
\ini_set('default_socket_timeout', 20);
\mt_srand((int) $argv[1]);
$check = new Check;

/** scene => its work. */
$scenes = [];
foreach (\glob(__DIR__ . '/../faults/scenes/*.php') as $file) {
    $scenes[\basename($file, '.php')] = (require $file)['work'];
}
[$kinds, $never, $owner] = kinds();

$expected = [];
foreach ($scenes as $name => $work) {
    for ($copy = 0; $copy < COPIES; $copy++) {
        $expected[$name][$copy] = finished(Async\spawn($work, $copy));
    }
}

/** @return Async\Scope[] two trees of scopes; what a cancelled work throws goes no further */
$grow = static function (): array {
    $scopes = [];
    for ($n = 0; $n < 6; $n++) {
        $lifetime = Async\Lifetime::cases()[\mt_rand(0, 2)];
        $scopes[] = $n % 3 === 0 ? new Async\Scope($lifetime) : Async\Scope::inherit($scopes[$n - \mt_rand(1, $n % 3)]);
        $scopes[$n]->setExceptionHandler(static fn(\Throwable $e) => null);
        $scopes[$n]->set('number', $n);
    }
    return $scopes;
};

/** @return array{string, ?int, Async\Coroutine} what, which copy, and who does it */
$start = static function (array $scopes) use ($scenes, $kinds): array {
    $spawn = \mt_rand(0, 1) === 0 ? Async\spawn(...) : $scopes[\array_rand($scopes)]->spawn(...);
    if (\mt_rand(0, 2) === 0) {
        $kind = \array_rand($kinds);
        return [$kind, null, $spawn($kinds[$kind])];
    }
    $scene = \array_rand($scenes);
    $copy = \mt_rand(0, COPIES - 1);
    return [$scene, $copy, $spawn($scenes[$scene], $copy)];
};

$seen = ['answered' => 0, 'cancelled' => 0];
$batch = static function (int $size) use ($grow, $start, $expected, $check, &$seen, &$warning): void {
    $running = [];
    $scopes = $grow();
    for ($n = 0; $n < $size; $n++) {
        $running[] = [...$start($scopes), false];
        \mt_rand(0, 5) === 0 and Async\delay(\mt_rand(0, 3));
    }
    foreach (\mt_rand(0, 3) === 0 ? [] : \array_rand($running, \max(2, \mt_rand(1, $size))) as $victim) {
        match (\mt_rand(0, 4)) {
            0 => Async\delay(\mt_rand(0, 15)),
            1, 2 => Async\suspend(),
            default => null,
        };
        $scope = \mt_rand(0, 7) === 0 ? $running[$victim][2]->getScope() : null;
        if (\in_array($scope, $scopes, true)) {
            $scope->cancel();
            foreach ($running as $n => [, , $coroutine]) {
                $running[$n][3] = $running[$n][3] || $coroutine->getScope()?->isCancelled();
            }
        } else {
            $running[$victim][3] = true;
            $running[$victim][2]->cancel();
        }
    }
    foreach ($running as [$what, $copy, $coroutine, $cancelled]) {
        if ($copy === null && !$cancelled) {
            $coroutine->cancel(); // it would go on for long
        }
    }
    foreach ($running as [$what, $copy, $coroutine, $cancelled]) {
        try {
            $answer = finished($coroutine);
            $seen['answered']++;
            if ($copy !== null && $answer !== $expected[$what][$copy]) {
                $check->problem("$what: " . \json_encode($answer) . ' instead of ' . \json_encode($expected[$what][$copy]));
            }
        } catch (Async\CancellationException) {
            $seen['cancelled']++;
            $cancelled || $copy === null or $check->problem("$what: cancelled, though nobody did that");
        } catch (\Throwable $e) {
            $check->problem("$what: " . ($cancelled ? 'cancelled, ' : '') . describe($e) . "; the last warning of all: $warning");
        }
    }
    foreach ($scopes as $n => $scope) {
        try {
            $scope->isCancelled() ? $scope->awaitAfterCancellation(null, Async\timeout(5000)) : $scope->awaitCompletion(Async\timeout(5000));
        } catch (\Throwable $e) {
            $check->problem("scope $n: " . describe($e));
        }
        $scope->isFinished() && $scope->getCoroutines() === [] or $check->problem("scope $n is not finished");
    }
};

\function_exists('Faults\begin') and \Faults\begin();
$batch(40);
$batch(40); // what is made once is there now
\gc_collect_cycles();
$open = open_descriptors();
$memory = [];
for ($part = 0; $part < PARTS; $part++) {
    for ($done = 0; $done < WORKS / PARTS; $done += $size) {
        $size = (int) \min(\mt_rand(2, 40), WORKS / PARTS - $done);
        $size < 2 or $batch($size);
    }
    \gc_collect_cycles();
    $memory[] = \memory_get_usage();
}
no_descriptor_left($check, $open);
// What leaks does so in each part; a table that is doubled grows in one. Not what mysqlnd loses of a connection (28 KB) that fails in
// the last packet of mysqli_prepare(): it forgets the statement's data (mysqlnd_stmt_prepare_read_eof).
$grown = \min(\array_map(fn($after, $before) => $after - $before, \array_slice($memory, 1), \array_slice($memory, 0, -1)));
$grown < 1_000 * WORKS / PARTS or $check->problem("memory grew by $grown bytes and more in each part");

$never->cancel();
try {
    finished($never);
} catch (Async\CancellationException) {
}
unset($never, $kinds, $scenes, $grow, $start, $batch);
Async\suspend();
$live = \count(Async\getCoroutines());
$live === 1 or $check->problem($live - 1 . ' coroutines are left');
// what a cancelled shell_exec() had started may go on for its 50 ms; it is reaped when it ends
$children = static fn(): string => \trim(\implode(' ', \array_map(\file_get_contents(...), \glob('/proc/self/task/*/children'))));
$until = \hrtime(true) + 60_000_000_000;
do {
    Async\delay(20);
} while ($children() !== '' && \hrtime(true) < $until);
$children() === '' or $check->problem('child processes are left: ' . $children());
\function_exists('Faults\end') and \Faults\end();

echo "$seen[answered] answered, $seen[cancelled] cancelled, $grown bytes\n";
exit($check->problems === [] ? 0 : 1);
