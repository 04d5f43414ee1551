--TEST--
H3 who needs a lazy object that another coroutine is initialising waits for it, as for a class that is being linked
--SKIPIF--
<?php if (PHP_VERSION_ID < 80400) die('skip lazy objects came with PHP 8.4'); ?>
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

class User
{
    public string $name = 'default';
    public readonly int $id;
    protected array $list = [];
    public static int $calls = 0;
    public function __construct(int $id, string $name) { $this->id = $id; suspend(); $this->name = $name; $this->list[] = $name; suspend(); }
    public function list(): array { return $this->list; }
    public function __get($name) { return "magic $name"; }
}
#[AllowDynamicProperties]
class Open { public int $x = 0; public int $y; }

$ghost = fn() => (new ReflectionClass('User'))->newLazyGhost(function (User $user) { User::$calls++; suspend(); $user->__construct(7, 'ghost'); });
$proxy = fn() => (new ReflectionClass('User'))->newLazyProxy(function (User $user) { User::$calls++; suspend(); return new User(8, 'proxy'); });

$uses = [
    'read' => fn($u) => $u->name,
    'read of what has no default' => fn($u) => $u->id,
    'a method' => fn($u) => $u->list(),
    'isset' => fn($u) => [isset($u->id), isset($u->none), empty($u->name)],
    'magic' => fn($u) => $u->other,
    'get_object_vars' => fn($u) => get_object_vars($u),
    'an array of it' => fn($u) => array_values((array) $u),
    'foreach' => function ($u) { $seen = []; foreach ($u as $k => $v) $seen[$k] = $v; return $seen; },
    'json' => fn($u) => json_encode($u),
    'serialize' => fn($u) => serialize($u),
    'var_export' => fn($u) => var_export($u, true),
    'print_r' => fn($u) => preg_replace('~lazy \w+~', '', print_r($u, true)),
    'clone' => fn($u) => get_object_vars(clone $u),
    '==' => fn($u) => [$u == new User(7, 'ghost'), new User(7, 'ghost') == $u, $u == new User(8, 'proxy'), new User(8, 'proxy') == $u],
    'in_array' => fn($u) => [in_array($u, [new User(7, 'ghost')]), in_array(new User(8, 'proxy'), [$u])],
    'reflection' => fn($u) => (new ReflectionProperty('User', 'name'))->getValue($u),
    'a reference' => function ($u) { $r = &$u->name; return $r; },
];
foreach (['ghost' => $ghost, 'proxy' => $proxy] as $kind => $make) {
    $good = 0;
    foreach ($uses as $name => $use) {
        $user = $make();
        $user->name;
        $alone = await(spawn($use, $user));
        $user = $make();
        User::$calls = 0;
        $results = T\all([spawn(fn() => $user->name), ...array_map(fn() => spawn($use, $user), range(1, 3))]);
        array_shift($results);
        if ($results === array_fill(0, 3, $alone) && User::$calls === 1) $good++;
        else echo "$kind, $name: ", json_encode([User::$calls, $results, $alone]), "\n";
    }
    echo "$kind: $good of ", count($uses), " uses\n";
}

// writes wait as well, and are not lost
$user = $ghost();
$first = spawn(fn() => $user->name);
$second = spawn(function () use ($user) { $user->name = 'written'; $user->name .= ' later'; return $user->name; });
$third = spawn(function () use ($user) { unset($user->name); return isset($user->name); });
echo json_encode(T\all([$first, $second, $third])), "\n";

// the initialiser fails: the next one calls it again
$fails = 0;
$user = (new ReflectionClass('User'))->newLazyGhost(function (User $user) use (&$fails) { suspend(); $user->name = 'half'; suspend(); if ($fails++ < 2) throw new LogicException("failure $fails"); $user->__construct(1, 'third'); });
$jobs = array_map(fn() => spawn(fn() => $user->name), range(1, 4));
foreach ($jobs as $job) try { echo await($job), ' | '; } catch (LogicException $e) { echo $e->getMessage(), ' | '; }
echo "\n";

// it is cancelled, and who waits is
$go = false;
$user = (new ReflectionClass('User'))->newLazyGhost(function (User $user) use (&$go) { while (!$go) suspend(); $user->__construct(7, 'ghost'); });
[$first, $second, $third] = array_map(fn() => spawn(fn() => $user->name), range(1, 3));
T\begun($third);
T\turns(3);
$second->cancel();
echo get_class(T\failure($second)), ' ', $first->isCompleted() ? 'done' : 'goes on', "\n";
$first->cancel();
echo get_class(T\failure($first)), ' ';
$go = true;
echo await($third), "\n";

// one that waits for whoever waits for it
$user = (new ReflectionClass('User'))->newLazyGhost(function (User $user) { await(spawn(function () use ($user) { try { $user->name; } catch (Async\AsyncException $e) { echo preg_replace('~#\d+~', '#N', $e->getMessage()), "\n"; } })); $user->__construct(1, 'after all'); });
echo $user->name, "\n";

// the engine adds a dynamic property without asking
$open = (new ReflectionClass('Open'))->newLazyGhost(function (Open $o) { $o->before = 1; suspend(); suspend(); $o->x = 5; $o->y = 6; });
$set = function ($o) { $o->added = 'kept'; return $o->x; };
$set(new Open);
$first = spawn(fn() => $open->x);
$second = spawn($set, $open);
echo json_encode(T\all([$first, $second])), ' ', json_encode($open), "\n";

// several objects at once, one in another's initialiser, and a collection meanwhile
$all = [];
for ($i = 0; $i < 20; $i++) $all[] = (new ReflectionClass('User'))->newLazyGhost(function (User $user) use (&$all, $i) { suspend(); $next = $i < 19 ? $all[$i + 1]->name : ''; gc_collect_cycles(); $user->__construct($i, "$i$next"); });
$jobs = [];
foreach ([5, 0, 10, 3, 19] as $i) $jobs[] = spawn(fn() => strlen($all[$i]->name));
echo json_encode(T\all($jobs)), "\n";
unset($all, $jobs);

// what ends in the middle of it
echo T\php('class A { public $x; } $a = (new ReflectionClass("A"))->newLazyGhost(function ($a) { $a->x = new class { function __destruct() { echo "destroyed "; } }; Async\suspend(); exit(3); }); register_shutdown_function(function () use ($a) { try { var_dump($a->x); } catch (Async\AsyncException $e) { echo $e->getMessage(), "\n"; } }); Async\spawn(fn() => $a->x); Async\spawn(fn() => $a->x); Async\delay(600_000);');
?>
--EXPECTF--
ghost: 17 of 17 uses
proxy: 17 of 17 uses
["ghost","written later",false]
failure 1 | failure 2 | third | third | 
Async\CancellationException goes on
Async\CancellationException ghost
This object of the class User is being initialized by coroutine #N, which waits for this one
after all
[5,5] {"x":5,"y":6,"before":1,"added":"kept"}
[25,30,20,27,2]
[3] destroyed destroyed 
