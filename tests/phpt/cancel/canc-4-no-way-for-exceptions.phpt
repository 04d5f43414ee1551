--TEST--
CANC-4 a cancellation where an exception would end the request, in the middle of linking a class and in __debugInfo(), is held off until that is done
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

$goes_on = false;
$wait = function() use (&$goes_on) { while (!$goes_on) suspend(); };
spl_autoload_register(function(string $c) use ($wait) {
    $wait();
    eval(match ($c) { 'Used' => 'trait Used {}', 'Covariant' => 'class Covariant extends Base {}', default => "class $c {}" });
});
set_error_handler(function(int $number, string $message) use ($wait) { $wait(); return true; });

class Base {}
class Makes { function make(): Base { return new Base; } }
class Shown { public function __construct(private $wait) {} function __debugInfo() { ($this->wait)(); return ['shown' => 1]; } }

$ways = [
    'a trait is loaded' => fn() => eval('class A { use Used; } '),
    'a type is loaded' => fn() => eval('class B extends Makes { function make(): Covariant { return new Covariant; } }'),
    'a deprecation' => fn() => eval('class C implements Countable { function count() { return 0; } }'),
    'an interface' => fn() => eval('class D implements Serializable { function serialize() {} function unserialize($x) {} }'), // since PHP 8.5 they are reported when the class is linked
    'an anonymous class' => fn() => new class extends Parents {},
    'what is dumped' => fn() => var_dump(new Shown($wait)),
    'what is printed' => fn() => print_r(new Shown($wait)),
];
foreach ($ways as $name => $way) {
    echo "$name: ";
    $goes_on = false;
    $reached = 'not begun';
    $job = spawn(function() use ($way, &$reached) {
        $reached = 'inside';
        $way();
        $reached = 'done';
        suspend();
        $reached = 'went on';
    });
    T\begun($job);
    $job->cancel();
    suspend();
    echo $reached, ', ';
    $goes_on = true;
    echo get_class(T\failure($job)), ', ', $reached, "\n";
}
// what was linked is there
echo get_class((new B)->make()), ' ', count(new C), ' ', implode(class_uses('A')), "\n";

// directly behind the dump, as behind any call that is suspended
$goes_on = false;
$job = spawn(function() use ($wait) { try { ob_start(); var_dump(new Shown($wait)); } finally { $text = ob_get_clean(); echo strlen($text) > 20 ? 'dumped' : "not: $text", "\n"; } echo 'never'; });
T\begun($job);
$job->cancel();
$goes_on = true;
echo get_class(T\failure($job)), "\n";
?>
--EXPECTF--
a trait is loaded: inside, Async\CancellationException, done
a type is loaded: inside, Async\CancellationException, done
a deprecation: inside, Async\CancellationException, %r(done|inside)%r
an interface: inside, Async\CancellationException, %r(done|inside)%r
an anonymous class: inside, Async\CancellationException, done
what is dumped: inside, object(Shown)#%d (1) {
  ["shown"]=>
  int(1)
}
Async\CancellationException, inside
what is printed: inside, Shown Object
(
    [shown] => 1
)
Async\CancellationException, inside
Covariant 0 Used
dumped
Async\CancellationException
