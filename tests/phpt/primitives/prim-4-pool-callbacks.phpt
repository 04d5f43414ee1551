--TEST--
Callbacks of a pool may throw, suspend, refuse and be cancelled, and no place is lost
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{AsyncException, Pool};
use function Async\{await, delay, spawn, suspend};

// A factory that fails while others wait.
$fails = true;
$hold = false;
$pool = new Pool(function() use (&$fails, &$hold) {
    do suspend(); while ($hold);
    if ($fails) throw new LogicException('no');
    return new stdClass;
}, max: 1);
$waiting = [];
for ($i = 0; $i < 3; $i++) $waiting[] = spawn(fn() => $pool->acquire());
T\check('each of them tries', array_map(fn($c) => get_class(T\failure($c)), $waiting) === array_fill(0, 3, 'LogicException'));
T\check('none is left', count($pool) === 0);
$fails = false;
$hold = true;
$first = spawn(fn() => $pool->acquire());
T\begun($first);
$second = spawn(fn() => $pool->with(fn($thing) => 'second'));
T\begun($second);
$first->cancel(); // in the factory
T\failure($first);
$hold = false;
T\check('the next one makes it', await($second) === 'second' && count($pool) === 1);

// What a factory returns.
foreach ([null, 1.5, [1], true] as $wrong) attempt(json_encode($wrong), fn() => (new Pool(fn() => $wrong))->acquire());
$same = new stdClass;
$pool = new Pool(fn() => $same);
$held = $pool->acquire();
attempt('the same one twice', fn() => $pool->acquire());
T\check('one is there', count($pool) === 1);
foreach ([7, 'text', fopen('php://memory', 'r')] as $thing) {
    $pool = new Pool(fn() => $thing, max: 1);
    $pool->release($pool->acquire());
    T\check(gettype($thing), $pool->acquire() === $thing && $pool->activeCount() === 1);
}

// Checks.
$log = [];
$answers = ['health' => true, 'acquire' => true, 'release' => true];
$note = function(string $what) use (&$log, &$answers) {
    return function($thing) use ($what, &$log, &$answers) {
        $log[] = "$what $thing->number";
        suspend();
        return $answers[$what] instanceof Throwable ? throw $answers[$what] : $answers[$what];
    };
};
$number = 0;
$make = function() use (&$number) { $thing = new stdClass; $thing->number = ++$number; return $thing; };
$pool = new Pool($make, function($thing) use (&$log) { $log[] = "destroy $thing->number"; }, $note('health'), $note('acquire'), $note('release'), max: 1);
$try = function(string $name) use ($pool, &$log) {
    $log = [];
    attempt($name, fn() => $pool->with(fn($thing) => $thing->number));
    echo '    ', implode(', ', $log), '; ', count($pool), "\n";
};
$try('new');
$try('again');
$answers['health'] = false;
$try('unhealthy');
$answers['health'] = new LogicException('health');
$try('check throws');
$answers = ['health' => true, 'acquire' => false, 'release' => true];
$try('new one refused');
$answers['acquire'] = true;
$try('new');
$answers['release'] = false;
$try('not reset');
$answers['release'] = new LogicException('reset');
$try('reset throws');
$answers['release'] = true;
$log = [];
attempt('broken', fn() => $pool->release($pool->acquire(), true));
echo '    ', implode(', ', $log), '; ', count($pool), "\n";

// A destructor that throws.
$pool = new Pool(fn() => new stdClass, fn() => throw new RuntimeException('destructor'), beforeRelease: fn() => throw new LogicException('reset'));
attempt('both throw', fn() => $pool->release($pool->acquire()));
attempt('all three', fn() => $pool->with(fn() => throw new DomainException('own')));
T\check('none is left', count($pool) === 0 && $pool->activeCount() === 0);
attempt('min', fn() => new Pool(function() { static $n = 0; return ++$n === 3 ? throw new LogicException('third') : new stdClass; }, fn() => print('destroyed '), min: 4));
?>
--EXPECT--
each of them tries: yes
none is left: yes
the next one makes it: yes
null: Async\AsyncException: The factory of a pool has to return an object, a resource, a string or an integer, null returned
1.5: Async\AsyncException: The factory of a pool has to return an object, a resource, a string or an integer, float returned
[1]: Async\AsyncException: The factory of a pool has to return an object, a resource, a string or an integer, array returned
true: Async\AsyncException: The factory of a pool has to return an object, a resource, a string or an integer, bool returned
the same one twice: Async\AsyncException: The factory of a pool has returned an object that is in a pool already
one is there: yes
integer: yes
string: yes
resource: yes
new: 1
    acquire 1, release 1; 1
again: 1
    health 1, acquire 1, release 1; 1
unhealthy: 2
    health 1, destroy 1, acquire 2, release 2; 1
check throws: LogicException: health
    health 2, destroy 2; 0
new one refused: Async\AsyncException: The pool's $beforeAcquire has refused a new item
    acquire 3, destroy 3; 0
new: 4
    acquire 4, release 4; 1
not reset: 4
    health 4, acquire 4, release 4, destroy 4; 0
reset throws: LogicException: reset
    acquire 5, release 5, destroy 5; 0
broken: null
    acquire 6, destroy 6; 0
both throw: RuntimeException: destructor after LogicException: reset
all three: RuntimeException: destructor after LogicException: reset after DomainException: own
none is left: yes
destroyed destroyed min: LogicException: third
