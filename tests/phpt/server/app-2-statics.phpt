--TEST--
APP-2 APP-3 each instance of an application has all static and global variables for itself, with and without opcache and its JIT
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';

S\in_each_mode(<<<'PHP'
use function Async\{await, spawn};

abstract class Base { public static $number = 1; protected static ?array $names = null; public static function names() { return static::$names ??= [static::class]; } }
trait Counts { public static int $count = 0; public static function next(): int { static $calls = 0; ++self::$count; return ++$calls; } }
class A extends Base { use Counts; private static $own = 0; public static function own() { return ++self::$own; } }
class B extends Base { use Counts; public static $number = 5; }
enum Suit { case Hearts; case Spades; const DEFAULT = self::Spades; }
class Settings { const SUIT = Suit::Hearts; const SUM = 1 + PHP_VERSION_ID; public static $sum = self::SUM; public static $suit = self::SUIT; }
final class Container { private static ?self $instance = null; public ?string $user = null; public static function get(): self { return self::$instance ??= new self; } }
function calls(): int { static $n = 0; return ++$n; }
function numbers() { static $n = 0; while (true) { yield ++$n; } }
// The script uses them before, and has references to some.
Base::$number = 7;
calls();
A::names();
$reference = &A::$count;
$GLOBALS['counter'] = 10;
$alias = &$GLOBALS['counter'];
$static = function (bool $inScript = false) { return [$inScript ? null : Container::get()->user, A::own()]; };
$static(true);
$suit = Suit::Hearts;

$boots = 0;
$server = S\application(function (int $instance) use ($static, $suit, &$boots) {
    global $counter;
    $boots++;
    $begins = [$counter, Base::$number, B::$number, A::$count, Container::get()->user, calls(), A::names()];
    if ($begins !== [10, 7, 5, 0, null, 2, ['A']]) {
        echo 'begins with ', json_encode($begins), "\n";
    }
    $counter = 100 + $instance;
    // A class that opcache does not keep, and a class of one instance that others see.
    eval('if (!class_exists("Evaluated")) { class Evaluated extends Base { const NEXT = Base::class . "!"; public static $calls = 0; public static $text = self::NEXT; static function call() { static $n = 0; self::$calls++; return ++$n; } } }');
    return function () use ($instance, $static, $suit) {
        global $counter;
        static $requests = 0;
        $requests++;
        $me = "user $instance." . random_int(1, PHP_INT_MAX);
        Container::get()->user = $me;
        $seen = [$static(), $static()];
        $evaluated = Evaluated::call();
        A::$number++;
        B::$number++;
        A::next();
        $calls = calls();
        $numbers = numbers();
        $number = $numbers->current();
        foreach ([1, 2, 3] as $_) {
            usleep(random_int(0, 300));
            await(spawn(fn() => usleep(random_int(0, 100)) ?? A::next()));
        }
        $numbers->next();
        $later = array_map(fn() => Container::get()->user, [1, 2]);
        $ok = Container::get()->user === $me && $later === [$me, $me] && $seen[0][0] === $me && $seen[1][1] === $seen[0][1] + 1
            && $evaluated === $requests && Evaluated::$calls === $requests && Evaluated::$text === 'Base!' && Evaluated::$number === 7 + $requests
            && Base::$number === 7 + $requests && A::$number === 7 + $requests && B::$number === 5 + $requests && A::$count === 4 * $requests && B::$count === 0
            && $calls === 2 + $requests && $counter === 100 + $instance && calls() === 3 + $requests && $numbers->current() === $number + 1
            && Settings::$sum === 1 + PHP_VERSION_ID && Settings::$suit === $suit && Suit::DEFAULT === Suit::Spades && $GLOBALS['counter'] === $counter;
        echo $ok ? 'right' : 'wrong ' . json_encode([$requests, $me, Container::get()->user, $later, $seen, $evaluated, Evaluated::$calls, Evaluated::$text, Base::$number, B::$number, A::$count, $calls, $counter, $number, Settings::$sum]);
    };
}, 5, ['instance_requests' => 1]);
echo json_encode(S\answers($server, 60, 12)), ' ', $boots, ' boots, ';
$server->stop();
echo json_encode([Base::$number, B::$number, A::$count, Container::get()->user, calls(), $counter, $static(true)[1], Evaluated::$calls]);
PHP);
?>
--EXPECT--
without opcache: [0] {"right":60} 60 boots, [7,5,0,null,2,10,2,0]
with opcache: [0] {"right":60} 60 boots, [7,5,0,null,2,10,2,0]
with its JIT: [0] {"right":60} 60 boots, [7,5,0,null,2,10,2,0]
