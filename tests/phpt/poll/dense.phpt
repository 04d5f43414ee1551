--TEST--
Async\Poll where nearly all streams are ready each time: what is ready is returned, and all else goes on
--SKIPIF--
<?php extension_loaded('posix') && extension_loaded('pcntl') || die('skip posix or pcntl is missing');
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{spawn, await, delay, currentCoroutine};

/** Closes what it opens over, in the first read. */
class Closing
{
    public $context;
    public $inner;
    public static ?Closure $asked = null;

    public function stream_open(): bool
    {
        $this->inner = $GLOBALS['inner'];
        return true;
    }
    public function stream_cast(int $as)
    {
        (self::$asked ?? fn() => null)();
        return $this->inner;
    }
    public function stream_read(int $length): string { return (string) fread($this->inner, $length); }
    public function stream_eof(): bool { return feof($this->inner); }
    public function stream_set_option(): bool { return false; }
    public function stream_close(): void {}
}
stream_wrapper_register('closing', Closing::class);

foreach (['local' => pair(...), 'TCP' => fn() => accepted('tcp://127.0.0.1:0')] as $kind => $pair) {
    echo "$kind\n";
    $poll = new Async\Poll;
    [$ours, $peers, $names] = [[], [], []];
    for ($i = 0; $i < 10; $i++) {
        [$ours[$i], $peers[$i]] = $pair();
        stream_set_blocking($ours[$i], false);
        $poll->watchRead($ours[$i]);
        $names[$i] = $ours[$i];
    }
    [$quiet, $far] = $pair();
    $poll->watchRead($quiet);
    $all = range(0, 9);
    // Returns when it has arrived, without asking the event loop.
    $write = function (int ...$which) use ($ours, $peers): void {
        foreach ($which as $i) fwrite($peers[$i], 'x');
        foreach ($which as $i) while ((string) stream_socket_recvfrom($ours[$i], 1, STREAM_PEEK) === '');
    };
    $read = fn(array $result) => implode('', array_map(fn($stream) => fread($stream, 10), $result[0]));
    // After these the kernel is asked about all streams at once.
    $warm = function () use ($poll, $write, $read, $all): void {
        for ($round = 0; $round < 20; $round++) {
            $write(...$all);
            $got = $read($poll->wait());
            $got === 'xxxxxxxxxx' || throw new Error("Read $got");
        }
    };
    // Waits until something is so. What is ready is not read: no wait is for nothing.
    $until = function (Closure $is, int $most = 10_000) use ($poll): string {
        for ($waits = 0; $waits < $most; $waits++) {
            $result = $poll->wait();
            if ($is($result)) return 'came';
        }
        return 'did not come';
    };

    $warm();
    $write(...$all);
    fread($ours[4], 10);
    echo 'not the one that was read: ', found($poll->wait(), $names), "\n";
    foreach ($all as $i) $i === 4 || fread($ours[$i], 10);
    echo 'nothing: ', found($poll->wait(0), $names), "\n";
    $warm();
    echo 'nothing: ', found($poll->wait(0.001), $names), "\n";

    $warm();
    $late = spawn(function () use ($write) { delay(1); $write(2); });
    $result = $poll->wait();
    echo 'one, later: ', found($result, $names), ' ', $read($result), "\n";

    $warm();
    $write(...$all);
    [$a, $b] = pair();
    $reader = spawn(fn() => fread($a, 10));
    T\parked($reader);
    fwrite($b, 'for another');
    // By a seed this coroutine may be the next one too.
    $waits = (int) ini_get('async.seed') ? 100 : 1;
    echo 'what another coroutine waits for: ', $until(fn() => $reader->isCompleted(), $waits), ' ', await($reader), "\n";
    fwrite($far, 'x');
    echo 'a stream that was quiet: ', $until(fn($result) => in_array($quiet, $result[0], true)), ' ', fread($quiet, 10), "\n";
    $poll->unwatchRead($quiet);
    $timer = spawn(fn() => delay(1));
    echo 'its time: ', $until(fn() => $timer->isCompleted(), PHP_INT_MAX), "\n";
    $poll->watchSignal(SIGUSR1);
    posix_kill(getmypid(), SIGUSR1);
    echo 'a signal: ', $until(fn($result) => $result[2] === [SIGUSR1]), "\n";
    $poll->unwatchSignal(SIGUSR1);
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR2, function () use (&$is_caught) { $is_caught = true; });
    posix_kill(getmypid(), SIGUSR2);
    echo 'one with a handler: ', $until(fn() => $is_caught), "\n";
    $is_caught = false;
    $poll->wake();
    $read($poll->wait());

    $warm();
    $write(0);
    stream_set_blocking($ours[0], true);
    echo 'a blocking read, of what no event has told of: ', fread($ours[0], 10), "\n";
    stream_set_blocking($ours[0], false);
    [$r, $w, $e] = [[$ours[1]], null, null];
    $write(1);
    echo 'as is stream_select(): ', stream_select($r, $w, $e, 0), ' ', fread($ours[1], 10), "\n";

    $warm();
    $write(...$all);
    fclose($peers[5]);
    $poll->unwatchRead($ours[6]);
    foreach ($all as $i) fread($ours[$i], 10);
    fclose($ours[7]);
    $write(0, 1, 2, 3, 4);
    $names[7] = $ours[7];
    echo 'read, ended and closed: ', found($poll->wait(), $names), "\n";
    $poll->unwatchRead($ours[5]);
    $poll->unwatchRead($ours[7]);
    $poll->watchRead($ours[6]);
    echo 'of a new watch: ', found($poll->wait(), $names), "\n";
    foreach ([0, 1, 2, 3, 4] as $i) fread($ours[$i], 10);

    // A wrapper's code ends a watch and closes another stream after these have been looked at; something else gets its descriptor.
    [$inner, $far] = pair();
    $wrapped = fopen('closing://', 'r');
    $rest = [0, 1, 2, 3, 4, 6, 8, 9];
    $poll = new Async\Poll;
    $names = array_intersect_key($ours, array_flip($rest)) + ['wrapped' => $wrapped];
    foreach ($names as $stream) $poll->watchRead($stream);
    for ($round = 0; $round < 30; $round++) {
        $write(...$rest);
        $read($poll->wait());
    }
    Closing::$asked = function () use ($poll, $ours, &$other) {
        Closing::$asked = null;
        $poll->unwatchRead($ours[8]);
        fclose($ours[9]);
        $other = pair();
    };
    $write(0, 1, 2, 3, 4, 6, 8);
    $result = $poll->wait();
    echo 'changed meanwhile: ', found($result, $names), ', ', count($result[0]), "\n";
    foreach ([0, 1, 2, 3, 4, 6, 8] as $i) fread($ours[$i], 10);
    $poll->unwatchRead($ours[9]);
    $rest = [0, 1, 2, 3, 4, 6];
    for ($round = 0; $round < 30; $round++) {
        $write(...$rest);
        $read($poll->wait());
    }
    Closing::$asked = fn() => throw new Error('in a wrapper');
    $write(...$rest);
    echo refused(fn() => $poll->wait()), "\n";
    Closing::$asked = null;
    echo 'again: ', found($poll->wait(), $names), "\n";
    currentCoroutine()->cancel();
    echo explode(' at ', refused(fn() => $poll->wait()))[0], "\n";
    $names = [];
    foreach ($ours as $i => $stream) $poll->unwatchRead($stream);
    $poll->unwatchRead($wrapped);
}
?>
--EXPECT--
local
not the one that was read: read [0 1 2 3 5 6 7 8 9] write [] signals []
nothing: read [] write [] signals []
nothing: read [] write [] signals []
one, later: read [2] write [] signals [] x
what another coroutine waits for: came for anothe
a stream that was quiet: came x
its time: came
a signal: came
one with a handler: came
a blocking read, of what no event has told of: x
as is stream_select(): 1 x
read, ended and closed: read [0 1 2 3 4 5 7] write [] signals []
of a new watch: read [0 1 2 3 4] write [] signals []
changed meanwhile: read [0 1 2 3 4 6 9] write [] signals [], 7
Error: in a wrapper
again: read [0 1 2 3 4 6] write [] signals []
Async\CancellationException: cancelled
TCP
not the one that was read: read [0 1 2 3 5 6 7 8 9] write [] signals []
nothing: read [] write [] signals []
nothing: read [] write [] signals []
one, later: read [2] write [] signals [] x
what another coroutine waits for: came for anothe
a stream that was quiet: came x
its time: came
a signal: came
one with a handler: came
a blocking read, of what no event has told of: x
as is stream_select(): 1 x
read, ended and closed: read [0 1 2 3 4 5 7] write [] signals []
of a new watch: read [0 1 2 3 4] write [] signals []
changed meanwhile: read [0 1 2 3 4 6 9] write [] signals [], 7
Error: in a wrapper
again: read [0 1 2 3 4 6] write [] signals []
Async\CancellationException: cancelled
