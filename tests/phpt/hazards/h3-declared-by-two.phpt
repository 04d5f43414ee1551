--TEST--
H3 a class that two coroutines declare by the same code is linked once, whatever its linking waits for
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

/** Loads what the classes below need, slowly; fails as often as it is told to. */
$fails = [];
$goes_on = true;
spl_autoload_register(function(string $c) use (&$fails, &$goes_on) {
    do suspend(); while (!$goes_on);
    if ($fails && array_shift($fails)) throw new DomainException("no $c");
    match ($c[0]) {
        'P' => eval("class $c { public \$inherited = ['$c']; }"),
        'T' => eval("trait $c { public \$used = ['$c']; function count() { static \$n = 0; return ++\$n; } }"),
        'I' => eval("interface $c { const C = ['$c']; }"),
        default => null,
    };
});

function anonymous() { return new class extends P1 implements I1 { use T1; public $own = ['own']; }; }
function named() { if (!class_exists('Named', false)) { class Named extends P2 implements I2 { use T2; public $own = ['own']; } } return new Named; }
function late() { return new class extends P3 { use T3; }; }
function hurried() { return new class { use T4; }; }
function failing() { if (!class_exists('Failing', false)) { class Failing extends P5 {} } return new Failing; }
function failing_anonymous() { return new class extends P6 {}; }

foreach (['anonymous', 'named'] as $what) {
    $objects = T\all(array_map(fn() => spawn($what), range(1, 4)));
    $classes = array_unique(array_map(get_class(...), $objects));
    T\check("$what: one class", count($classes) === 1 && !array_filter($objects, fn($o) => !$o instanceof $classes[0]), $classes);
    echo json_encode($objects[3]), json_encode($objects[3]::C), ' ', get_parent_class($objects[3]), ' ', $objects[0]->count() + $objects[3]->count(), "\n";
}

// who waits for the other one can be cancelled; the other one goes on
foreach (['late', 'hurried'] as $what) {
    $goes_on = false;
    T\begun($links = spawn($what));
    T\parked($waits = spawn($what));
    $waits->cancel();
    echo get_class(T\failure($waits)), "\n";
    $goes_on = true;
    T\check("$what: the first one has it", await($links) instanceof (get_class($links->getResult())));
    T\check('and who comes later', get_class(await(spawn($what))) === get_class($links->getResult()));
}

// where the first one fails, the next one tries
foreach (['failing', 'failing_anonymous'] as $what) {
    $fails = [true, false];
    $jobs = array_map(fn() => spawn($what), range(1, 3));
    echo $what, ': ', T\failure($jobs[0])->getMessage(), ', ', get_parent_class(await($jobs[1])), ', ', get_parent_class(await($jobs[2])), "\n";
    $fails = [];
}

// a circle
spl_autoload_register(function(string $c) { if ($c === 'Q') { await(spawn('circle')); eval('class Q {}'); } }, prepend: true);
function circle() { return new class extends Q {}; }
$e = T\failure(spawn('circle'));
echo get_class($e), ': ', preg_replace('/#\d+/', '#N', $e->getMessage()), "\n";

// code that cannot be suspended
$goes_on = false;
function unlucky() { return new class extends P7 {}; }
final class Dies { public $self; function __destruct() { try { unlucky(); } catch (Throwable $e) { echo get_class($e), ': ', $e->getMessage(), "\n"; } } }
T\begun($links = spawn('unlucky'));
$o = new Dies;
$o->self = $o;
unset($o);
gc_collect_cycles();
$goes_on = true;
echo get_parent_class(await($links)), "\n";
?>
--EXPECT--
anonymous: one class: yes
{"inherited":["P1"],"own":["own"],"used":["T1"]}["I1"] P1 3
named: one class: yes
{"inherited":["P2"],"own":["own"],"used":["T2"]}["I2"] P2 3
Async\CancellationException
late: the first one has it: yes
and who comes later: yes
Async\CancellationException
hurried: the first one has it: yes
and who comes later: yes
failing: no P5, P5, P5
failing_anonymous: no P6, P6, P6
Async\AsyncException: class q@anonymous is being declared by coroutine #N, which waits for this one
Async\AsyncException: class p7@anonymous is being declared by another coroutine, and this code cannot wait for it
P7
