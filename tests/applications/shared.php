<?php
/*
 * Lets coroutines share one object of a library that takes concurrent calls for recursion: a logger of Monolog.
 *
 *   run --shared [--only GLOB] [--list]
 *
 * 20 coroutines write 50 records each with one logger: to standard output, whose reader is slow; to a file; to one that is locked for
 * each record; with a processor that waits; and with one that is cancelled in the middle of a record now and then. No record may be
 * lost or mixed up, and there must be no warning of a loop; but a handler that logs by its own logger is still stopped.
 *
 * The library is the distribution's (fetch). The last line is "shared: N passed, N failed, N skipped".
 */

declare(strict_types=1);

namespace Applications;

const COROUTINES = 20;
const RECORDS = 50;

define('WORK', \Runner\work('shared'));

$begin = <<<'PHP'
    error_reporting(E_ALL & ~E_DEPRECATED);
    require "$argv[1]/Psr/Log/autoload.php";
    require "$argv[1]/Monolog/autoload.php";
    use Monolog\Logger;
    use Monolog\Handler\StreamHandler;
    use function Async\{await, awaitAll, currentCoroutine, delay, spawn, suspend};
    [$file, $coroutines, $records] = [$argv[2], (int) $argv[3], (int) $argv[4]];
    /** Runs the coroutines, each of which logs its own records. */
    function together(Logger $log): void
    {
        global $coroutines, $records;
        $all = [];
        for ($i = 0; $i < $coroutines; $i++) {
            $all[] = spawn(function () use ($log, $i, $records) {
                for ($k = 0; $k < $records; $k++) {
                    $log->info("record $i.$k.", ['pad' => str_repeat('x', 2000)]);
                    if ($k % 10 === 0) usleep(100);
                }
            });
        }
        awaitAll($all);
        $log->close();
    }
    PHP;
$cases = [
    'stdout' => 'together(new Logger("app", [new StreamHandler("php://stdout")]));',
    'file' => 'together(new Logger("app", [new StreamHandler($file)]));',
    'locked-file' => 'together(new Logger("app", [new StreamHandler($file, useLocking: true)]));',
    'processor' => '$log = new Logger("app", [new StreamHandler($file)]);
        $log->pushProcessor(function ($record) { usleep(100); return $record; });
        together($log);',
    // Where the depth were one for all, each that is cancelled would leave it deeper.
    'cancelled' => '$log = new Logger("app", [new StreamHandler($file)]);
        $log->pushProcessor(function ($record) use (&$waits) { if ($record["message"] === "cancelled") delay(1000_000); else suspend(); return $record; });
        for ($i = 0; $i < 10; $i++) {
            $other = spawn(fn () => $log->info("cancelled"));
            while ($other->getSuspendFileAndLine()[1] === 0) suspend();
            $other->cancel();
            try { await($other); } catch (Async\AsyncCancellation) {}
        }
        together($log);',
    'recursion' => '$log = new Logger("app");
        $log->pushHandler(new StreamHandler($file));
        $log->pushHandler(new class($log) extends Monolog\Handler\AbstractHandler {
            public function __construct(private Logger $log) { parent::__construct(); }
            public function handle($record): bool { suspend(); $this->log->info("logged by a handler"); return false; }
        });
        awaitAll([spawn(fn () => $log->info("one")), spawn(fn () => $log->info("two"))]);',
];
$cases = array_intersect_key($cases, array_flip(\Runner\meant($options, array_keys($cases))));

$missing = missing('php-monolog');
if ($missing !== []) {
    echo 'SKIPPED: monolog: ', $missing[0], "\n";
    \Runner\close(0, 0, count($cases), 'shared');
}

/** What a case has written: to its file, and to standard output, read slowly. */
function written(string $code): array
{
    $file = tempnam(WORK, 'log');
    $command = ['timeout', '-s', 'KILL', '120', PHP_BINARY, '-d', 'extension=' . EXTENSION, '-r', $code, '--', LIBRARIES, $file, COROUTINES, RECORDS];
    $process = proc_open(array_map(strval(...), $command), [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
    $lines = [];
    while (($line = fgets($pipes[1])) !== false) {
        $lines[] = $line;
        count($lines) % 10 === 0 && usleep(500);
    }
    return [proc_close($process), [...$lines, ...file($file)]];
}

$passed = $failed = 0;
foreach ($cases as $name => $code) {
    [$status, $lines] = written("$begin\n$code");
    $whole = array_filter($lines, static fn (string $line) => preg_match('/^\[\S+\] app\.INFO: record \d+\.\d+\. \{"pad":"x{2000}"\} \[\]$/', rtrim($line, "\n")) === 1);
    $records = array_unique(array_map(static fn (string $line) => explode(' ', $line)[3], $whole));
    $warnings = count(preg_grep('/infinite logging loop/', $lines));
    $expected = $name === 'recursion' ? [0, 2] : [COROUTINES * RECORDS, 0];
    if ($status === 0 && [count($records), $warnings] === $expected && ($name === 'recursion' || count($lines) === count($records))) {
        $passed++;
    } else {
        $failed++;
        echo "FAILED: $name: status $status, ", count($lines), ' lines, of which ', count($records), " are different records, and $warnings warnings of a loop\n",
            implode('', array_map(static fn (string $line) => substr($line, 0, 200) . "\n", array_slice(array_diff($lines, $whole), 0, 5)));
    }
}
\Runner\close($passed, $failed, 0, 'shared');
