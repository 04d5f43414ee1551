--TEST--
IO-2 sem_acquire(), msg_send(), msg_receive(): between coroutines and with another process, the rest runs meanwhile
--EXTENSIONS--
pcntl
sysvmsg
sysvsem
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

$key = random_int(1, PHP_INT_MAX) & 0x7fffffff;
$queue = msg_get_queue($key);
$in_use = msg_stat_queue($queue)['msg_qnum'];
register_shutdown_function(function() use ($queue) { @msg_remove_queue($queue); });

T\same_inside([
    'semaphores' => function($n) use ($key) { $s = sem_get($key, 2); return [sem_acquire($s), sem_acquire($s, true), sem_acquire($s, true), sem_release($s), sem_release($s), @sem_release($s), sem_remove($s)]; },
    'messages' => fn() => [msg_send($queue, 2, ['a' => 1]), msg_receive($queue, 1, $t, 100, $m, true, MSG_IPC_NOWAIT, $e), $e === MSG_ENOMSG, msg_receive($queue, 0, $t, 100, $m), $t, $m],
]);

// one at a time, in the order they came (when the ready ones run in theirs)
$ticks = new T\Ticks;
$log = $came = [];
$jobs = [];
for ($i = 0; $i < 5; $i++) {
    $jobs[] = spawn(function() use ($key, $i, &$log, &$came) {
        $s = sem_get($key, 1);
        $came[] = $i;
        $log[] = [sem_acquire($s), $i];
        T\turns(5);
        $log[] = "$i out";
        sem_release($s);
    });
}
T\all($jobs);
$wanted = [];
foreach ($came as $i) array_push($wanted, [true, $i], "$i out");
T\check('in turn', $log === $wanted, [$came, $log]);

// two coroutines talk through the queue
$echo = spawn(function() use ($queue) {
    for ($i = 0; $i < 5; $i++) {
        msg_receive($queue, 1, $type, 1000, $text);
        msg_send($queue, 2, strtoupper($text));
    }
});
$answers = [];
foreach (['a', 'b', 'c', 'd', 'e'] as $text) {
    msg_send($queue, 1, $text);
    msg_receive($queue, 2, $type, 1000, $answers[]);
}
echo implode($answers), "\n";

// a full queue gives way to its reader
$big = str_repeat('x', 8000);
$writer = spawn(function() use ($queue, $big) { for ($i = 0; $i < 20; $i++) if (!msg_send($queue, 5, $big, false)) return $i; return 'all sent'; });
T\parked($writer);
$n = 0;
while ($n < 20 && msg_receive($queue, 5, $type, 10000, $m, false)) $n += $m === $big;
echo await($writer), " $n\n";

// another process
$code = '$s = sem_get((int) $argv[1]); $q = msg_get_queue((int) $argv[1]); sem_acquire($s); echo "has\n"; fgets(STDIN); sem_release($s); msg_receive($q, 7, $t, 100, $m); msg_send($q, 8, "$m back");';
$side = proc_open(T\interpreter() . ' -r ' . escapeshellarg($code) . " -- $key", [['pipe', 'r'], ['pipe', 'w']], $pipes);
$s = sem_get($key);
echo fgets($pipes[1]);
$waiter = spawn(fn() => sem_acquire($s));
T\parked($waiter);
$ticks->more();
T\turns(50);
T\check('the other one has it', !$waiter->isCompleted());
fwrite($pipes[0], "go\n");
var_dump(await($waiter));
$receiver = spawn(function() use ($queue) { msg_receive($queue, 8, $t, 100, $m); return $m; });
T\parked($receiver);
msg_send($queue, 7, 'there and');
echo await($receiver), "\n";
proc_close($side);

// cancelled: nothing is taken, the next one gets it
$first = spawn(fn() => @sem_acquire(sem_get($key)));
$second = spawn(fn() => sem_acquire(sem_get($key)));
T\parked($first, $second);
$first->cancel();
T\check('cancelled', T\failure($first) instanceof Async\CancellationException);
sem_release($s);
var_dump(await($second));
$receiver = spawn(fn() => @msg_receive($queue, 9, $t, 100, $m));
T\parked($receiver);
$receiver->cancel();
T\failure($receiver);
msg_send($queue, 9, 'kept');
msg_receive($queue, 9, $t, 100, $m);
echo "$m\n";

// the queue goes while somebody waits
$receiver = spawn(function() use ($queue) { return [msg_receive($queue, 9, $t, 100, $m, true, 0, $e), $e]; });
T\parked($receiver);
msg_remove_queue($queue);
T\check('removed', await($receiver) === [false, 43], await($receiver)); // EIDRM
sem_remove($s);
$ticks->stop();
?>
--EXPECT--
semaphores: yes
messages: yes
in turn: yes
ABCDE
all sent 20
has
the other one has it: yes
bool(true)
there and back
cancelled: yes
bool(true)
kept
removed: yes
