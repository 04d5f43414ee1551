--TEST--
CORO-7 getAwaitingInfo() of each kind of wait: the call, since when, where, and what it applies to
--SKIPIF--
<?php foreach (['sockets', 'posix', 'sysvsem'] as $name) if (!extension_loaded($name)) die("skip needs ext/$name"); ?>
--FILE--
<?php
use Async\{CoroutineGroup, Coroutine, Scope};
use function Async\{await, awaitChildren, currentCoroutine, delay, protect, spawn, suspend, timeout};

require __DIR__ . '/kit.inc';

T\work_in(['locked' => '', 'slow.php' => '<?php usleep(600_000_000);']);
set_error_handler(fn() => true); // a function that is cancelled may warn

/**
 * Says what is there, of one that waits. Numbers of coroutines and descriptors in a form that is the same each time. $in: the call that
 * it gets to after other waits.
 */
function tell(string $name, Coroutine $coroutine, array $ids = [], int $line = 0, string $in = ''): void
{
    T\until(function () use ($coroutine, $in, &$info) {
        $info = $coroutine->getAwaitingInfo();
        return ($info['since'] ?? 0) > 0.01 && ($in === '' || $info['call'] === $in);
    });
    $text = $info['call'] ?? 'nothing';
    $text .= isset($info['descriptor']) ? ', a descriptor' : '';
    if (isset($info['coroutines'])) {
        $text .= $info['coroutines'] === array_map(fn($c) => $c->getId(), $ids) ? ', its coroutines' : ', OTHERS ' . json_encode($info['coroutines']);
    }
    $text .= isset($info['scope']) ? ', scope of line ' . substr($info['scope'], strrpos($info['scope'], ':') + 1 - strlen($info['scope'])) : '';
    $since = $info['since'] ?? -1;
    $place = $info['location'] ?? '';
    $right = $since > 0.01 && str_starts_with($place, __FILE__ . ':' . ($line ?: substr($coroutine->getSpawnLocation(), strlen(__FILE__) + 1)));
    echo "$name: $text", $right ? '' : " BUT since $since at $place", "\n";
}

$slow = spawn(fn() => delay(600_000));
$other = spawn(fn() => delay(600_000));
[$a, $b] = T\pair();
[$c, $d] = T\pair();
$scope = new Scope;
$scope->spawn(fn() => delay(600_000));
$group = new CoroutineGroup;
$group->add($slow);
$group->add(spawn(fn() => null));
$group->add($other);
$big = new CoroutineGroup;
for ($i = 0; $i < 12; $i++) {
    $big->spawn(fn() => delay(600_000));
}

tell('delay', $slow);
tell('await', spawn(fn() => await($slow)), [$slow]);
tell('await with a token', spawn(fn() => await($slow, $other)), [$slow, $other]);
tell('await of a timeout', spawn(fn() => await(timeout(600_000))));
tell('await of a group', spawn(fn() => await($group)), [$slow, $other]);
$waits = spawn(fn() => await($big));
T\parked($waits);
T\check('of a big group the first', count($waits->getAwaitingInfo()['coroutines']) === 10);
tell('awaitCompletion', spawn(fn() => $scope->awaitCompletion(timeout(600_000))));
tell('awaitCompletion with a coroutine', spawn(fn() => $scope->awaitCompletion($slow)), [$slow]);
tell('awaitDirectChildren', spawn(fn() => $scope->awaitDirectChildren()), $scope->getCoroutines());
$children = [];
$parent = spawn(function () use (&$children) { $children = [spawn(fn() => delay(600_000)), spawn(fn() => delay(600_000))]; awaitChildren(); });
T\until(function () use (&$children) { return $children !== []; });
tell('awaitChildren', $parent, $children);
tell('protect', spawn(fn() => protect(fn() => delay(600_000))));
tell('sleep', spawn(fn() => sleep(600)));
tell('usleep', spawn(fn() => usleep(600_000_000)));
$reader = spawn(fn() => fread($a, 1));
tell('fread', $reader);
tell('locked handle', spawn(fn() => fread($a, 1)), [$reader]);
tell('stream_select', spawn(function () use ($c) { $r = [$c]; $w = $x = null; stream_select($r, $w, $x, 600); }));
[$server] = T\listener();
tell('accept', spawn(fn() => stream_socket_accept($server, 600)));
$udp = socket_create(AF_INET, SOCK_DGRAM, 0);
socket_bind($udp, '127.0.0.1');
tell('socket_recv', spawn(function () use ($udp) { socket_recv($udp, $data, 10, 0); }));
$lock = fopen('locked', 'r');
flock($lock, LOCK_EX);
tell('flock', spawn(fn() => flock(fopen('locked', 'r'), LOCK_EX)), in: 'flock');
tell('proc_close', spawn(fn() => proc_close(proc_open(['sleep', '600'], [1 => ['file', '/dev/null', 'w'], 2 => ['redirect', 1]], $pipes))), in: 'waitpid');
posix_mkfifo('fifo', 0600);
tell('fopen of a fifo', spawn(fn() => fopen('fifo', 'r')));
$file = fopen('locked', 'w');
fwrite($file, 'x');
T\until(function () use ($file, &$info) { // it may have ended before it is asked
    T\begun($sync = spawn(fn() => fsync($file)));
    return $info = $sync->getAwaitingInfo();
});
T\check('fsync', $info['call'] === 'fsync' && isset($info['descriptor']) && $info['since'] >= 0, $info);
$semaphore = sem_get($key = random_int(1, PHP_INT_MAX >> 33), 1);
sem_acquire($semaphore);
$second = sem_get($key, 1);
tell('sem_acquire', spawn(fn() => sem_acquire($second)));
spl_autoload_register(fn() => delay(600_000));
$loader = spawn(fn() => class_exists('Later'));
tell('the autoloader itself', $loader, line: __LINE__ - 2);
tell('autoload of another', spawn(fn() => class_exists('Later')), [$loader]);
$loader = spawn(fn() => require_once 'slow.php');
T\until(fn() => ($loader->getAwaitingInfo()['call'] ?? '') === 'usleep'); // not T\parked(): so many threads are never all asleep on a busy machine
tell('include of another', spawn(fn() => require_once 'slow.php'), [$loader], in: 'include');
T\begun($turn = spawn(function () { for (;;) suspend(); }));
T\check('suspend', $turn->getAwaitingInfo() === [], $turn->getAwaitingInfo());
sem_remove($semaphore);
foreach (T\children() as $pid => $_) posix_kill($pid, SIGKILL);
exit;
?>
--EXPECT--
delay: delay
await: await, its coroutines
await with a token: await, its coroutines
await of a timeout: await
await of a group: await, its coroutines
of a big group the first: yes
awaitCompletion: awaitCompletion, scope of line 36
awaitCompletion with a coroutine: awaitCompletion, its coroutines, scope of line 36
awaitDirectChildren: awaitDirectChildren, its coroutines
awaitChildren: awaitChildren, its coroutines
protect: delay
sleep: sleep
usleep: usleep
fread: poll, a descriptor
locked handle: locked handle, its coroutines
stream_select: select, a descriptor
accept: poll, a descriptor
socket_recv: recv, a descriptor
flock: flock, a descriptor
proc_close: waitpid, a descriptor
fopen of a fifo: open
fsync: yes
sem_acquire: semop
the autoloader itself: delay
autoload of another: autoload, its coroutines
include of another: include, its coroutines
suspend: yes
