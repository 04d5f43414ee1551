--TEST--
APP-2 APP-3 APP-6 spawnInstance: a coroutine with all static and global variables for itself, without a server
--EXTENSIONS--
pcntl
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';

S\in_each_mode(<<<'PHP'
use function Async\{await, delay, spawn, spawnInstance};
use Async\{AsyncException, CancellationException, Channel};

final class Has { public static int $n = 5; public static ?object $object = null; }
final class Ends
{
    public static array $seen = [];
    public function __construct(private int $of, private ArrayObject $ended) {}
    public function __destruct() { $this->ended[] = $this->of === Has::$n; }
}
function counted(): int { static $n = 0; return ++$n; }
$global = 'script';
$ended = new ArrayObject;

/** What an instance does: it has what the script had, and sees nothing of others. */
$work = function (int $i) use ($ended): array {
    global $global;
    $before = [Has::$n, counted(), $global];
    Has::$n = $i;
    Has::$object = new Ends($i, $ended);
    $global .= $i;
    $count = fn() => ++Has::$n;
    usleep(random_int(0, 2000));
    $counted = $count();
    Has::$n--;
    spawn(function () use ($i, $ended) { delay(1); $ended[] = Has::$n === $i; }); // it is waited for
    register_shutdown_function(fn() => $ended[] = Has::$n === $i);
    set_error_handler(fn() => $ended[] = Has::$n === $i);
    trigger_error('noticed');
    return $before === [5, 1, 'script'] && $counted === $i + 1 && counted() === 2 && $GLOBALS['global'] === "script$i" ? ['right'] : [$before, $counted];
};
$results = [];
for ($round = 0; $round < 20; $round++) {
    $running = [];
    for ($i = 1; $i <= 10; $i++) {
        $running[] = spawnInstance(function () use ($work, $i) { return $work($i); }); // a new closure each time, which leads to another one
    }
    foreach ($running as $one) {
        $result = json_encode(await($one));
        $results[$result] = ($results[$result] ?? 0) + 1;
    }
}
echo json_encode($results), ' ', count($ended), ' ', json_encode(array_unique((array) $ended)), ' ', Has::$n, $global, counted(), "\n";

// How it ends.
function told(callable $body): void
{
    try {
        echo json_encode(await(spawnInstance($body))), "\n";
    } catch (Throwable $e) {
        echo get_class($e), ': ', strtok($e->getMessage(), "\n"), "\n";
    }
}
told(fn() => throw new DomainException('failed'));
told(function () { register_shutdown_function(fn() => print('at its end, ')); exit(3); });
told(function () { spawn(fn() => exit); delay(3_600_000); });
told(function () { spawn(fn() => throw new LogicException('of a coroutine')); delay(3_600_000); });
told(fn() => spawnInstance(fn() => 1));
told(fn() => getallheaders());
ini_set('display_errors', '0');
ini_set('log_errors', '0');
told(function () { trigger_error('asked for', E_USER_ERROR); });
told(function () { class_alias('Has', 'Alias'); eval('class Ends {}'); });
$begun = new Channel(1);
$one = spawnInstance(function () use ($begun) {
    Has::$n = 7;
    $begun->send(1);
    try {
        delay(3_600_000);
    } finally {
        delay(1);
        echo 'cleaned up with ', Has::$n, "\n";
    }
});
$begun->recv();
$one->cancel();
try {
    await($one);
} catch (CancellationException) {
    echo "cancelled\n";
}
spawnInstance(fn() => print("never\n"))->cancel();

// What the script suspends, no instance can go on with.
function generator() { yield Has::$n; }
$generator = generator();
told(fn() => $generator->current());
$fiber = new Fiber(fn() => Fiber::suspend());
$fiber->start();
told(fn() => [$fiber]);
$fiber->resume();
told(fn() => $fiber->isTerminated());

// Closures of the script live no longer than others need them, and their values' destructors may wait; so may what holds them be deep.
final class Waits
{
    public static int $ended = 0;
    public $self;
    public function __construct() { $this->self = fn() => $this; }
    public function __destruct() { delay(1); self::$ended++; }
}
for ($i = 0; $i < 20; $i++) {
    $waits = new Waits();
    $weak = WeakReference::create($f = function () use ($waits) { return 1 + Has::$n; });
    unset($waits);
    await(spawnInstance(fn() => Has::$n === 5 && ($weak->get())() === 6 || print('wrong ')));
    unset($f);
    spawn(fn() => await(spawnInstance(fn() => 1)));
    spawnInstance(fn() => print('never '))->cancel();
}
gc_collect_cycles();
T\until(fn() => Waits::$ended === 20);
$deep = [];
for ($i = 0; $i < 10_000; $i++) {
    $deep = [$deep, new ArrayObject()];
}
echo await(spawnInstance(fn() => count($deep))), " reachable\n";
unset($deep);
$status = await(spawnInstance(function () { $child = pcntl_fork(); $child || exit(3); pcntl_waitpid($child, $status); return pcntl_wexitstatus($status); }));
echo $status, ' ';
echo await(spawnInstance(function () { $child = pcntl_fork(); $child || throw new Exception('in the child'); pcntl_waitpid($child, $status); return pcntl_wexitstatus($status); })), "\n";

// One after the other they leave nothing.
$before = 0;
for ($i = 0; $i < 400; $i++) {
    await(spawnInstance(function () use ($i) { Has::$object = (object) [$i, str_repeat('x', 10_000)]; delay(0); return $i; }));
    $i === 100 && $before = memory_get_usage();
}
echo memory_get_usage() - $before < 5_000 ? 'no leak' : 'leak: ' . memory_get_usage() - $before;
PHP);

// The script ends in the middle of one.
echo T\php(<<<'PHP'
    use function Async\{await, delay, spawn, spawnInstance};
    $one = spawnInstance(function () {
        register_shutdown_function(fn() => print('at its end, '));
        spawn(function () { delay(1); exit('the script exits, '); }); // of the instance: ends this alone
        delay(3_600_000);
    });
    var_dump(await($one));
    $two = spawnInstance(function () { try { delay(3_600_000); } finally { echo 'never'; } });
    spawn(function () { delay(1); exit(7); });
    await($two);
    PHP), "\n";
?>
--EXPECT--
without opcache: [0] {"[\"right\"]":200} 800 [true] 5script1
DomainException: failed
at its end, null
null
LogicException: of a coroutine
Async\AsyncException: Async\spawnInstance() cannot be called in an instance, or in a request
Error: Call to undefined function getallheaders()
Async\AsyncException: A fatal error has ended the coroutine
Async\AsyncException: The instance has ended with a fatal error, which may have damaged memory: end the process
cleaned up with 7
cancelled
Async\AsyncException: Async\spawnInstance() cannot be called with what leads to a generator of the script: its code is in the middle of using the script's variables
Async\AsyncException: Async\spawnInstance() cannot be called with what leads to a fiber of the script: its code is in the middle of using the script's variables
true
2 reachable
3 255
no leak
with opcache: [0] {"[\"right\"]":200} 800 [true] 5script1
DomainException: failed
at its end, null
null
LogicException: of a coroutine
Async\AsyncException: Async\spawnInstance() cannot be called in an instance, or in a request
Error: Call to undefined function getallheaders()
Async\AsyncException: A fatal error has ended the coroutine
Async\AsyncException: The instance has ended with a fatal error, which may have damaged memory: end the process
cleaned up with 7
cancelled
Async\AsyncException: Async\spawnInstance() cannot be called with what leads to a generator of the script: its code is in the middle of using the script's variables
Async\AsyncException: Async\spawnInstance() cannot be called with what leads to a fiber of the script: its code is in the middle of using the script's variables
true
2 reachable
3 255
no leak
with its JIT: [0] {"[\"right\"]":200} 800 [true] 5script1
DomainException: failed
at its end, null
null
LogicException: of a coroutine
Async\AsyncException: Async\spawnInstance() cannot be called in an instance, or in a request
Error: Call to undefined function getallheaders()
Async\AsyncException: A fatal error has ended the coroutine
Async\AsyncException: The instance has ended with a fatal error, which may have damaged memory: end the process
cleaned up with 7
cancelled
Async\AsyncException: Async\spawnInstance() cannot be called with what leads to a generator of the script: its code is in the middle of using the script's variables
Async\AsyncException: Async\spawnInstance() cannot be called with what leads to a fiber of the script: its code is in the middle of using the script's variables
true
2 reachable
3 255
no leak
[7] the script exits, at its end, NULL
