--TEST--
APP-3 destructors, rests of generators and what the boot has set run as code of the instance that has made them
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';

S\in_each_mode(<<<'PHP'
use function Async\{await, spawn};

final class Me { public static ?string $name = null; public static int $destroyed = 0; }
/** What is destroyed elsewhere. It is no static property, which each instance has for itself. */
$wrong = new ArrayObject;
final class Cycle
{
    private $self;
    private string $of;
    public function __construct(private ArrayObject $wrong) { $this->self = $this; $this->of = (string) Me::$name; }
    public function __destruct() { Me::$destroyed++; (string) Me::$name === $this->of || $this->wrong[] = "$this->of destroyed by " . Me::$name; }
}
function generates(ArrayObject $wrong) { $of = Me::$name; try { yield 1; } finally { Me::$name === $of || $wrong[] = "the rest of a generator of $of runs in " . Me::$name; } }

$ended = new ArrayObject;
$server = S\application(function (int $instance) use ($wrong, $ended) {
    Me::$name = "instance $instance";
    $cycle = new Cycle($wrong);
    $_SERVER['OF_A_FILE'] = $_ENV['OF_A_FILE'] = Me::$name;
    $_SERVER['REQUEST_METHOD'] = 'of the boot';
    set_error_handler(function (int $type, string $text) { echo Me::$name, " handles $text"; return true; });
    set_exception_handler(function (Throwable $thrown) { http_response_code(418); echo Me::$name, " has caught {$thrown->getMessage()}"; });
    register_shutdown_function(fn() => $ended[] = Me::$name . ' ends');
    return function () use ($instance, $wrong) {
        for ($i = 0; $i < 40; $i++) {
            new Cycle($wrong);
        }
        $generator = generates($wrong);
        $generator->current();
        $holder = new stdClass;
        $holder->all = [$generator, $holder];
        unset($generator, $holder);
        usleep(random_int(0, 500));
        match ($_SERVER['PATH_INFO'] ?? $_SERVER['REQUEST_URI']) {
            '/notice' => print strtr($undefined, [Me::$name => 'it']),
            '/later' => register_shutdown_function(function () { print $undefined; }),
            '/settings' => print "$_SERVER[OF_A_FILE] $_ENV[OF_A_FILE] $_SERVER[REQUEST_METHOD]",
            '/throws' => throw new Exception('a failure'),
            default => gc_collect_cycles() >= 0 && print 'done',
        };
    };
}, 4);
$answers = S\answers($server, 100, 10);
gc_collect_cycles();
echo json_encode($answers), ' ';
$ok = 0;
foreach (['/notice' => '~^(instance \d) handles Undefined variable \$undefined~', '/later' => '~^instance \d handles Undefined variable \$undefined$~',
    '/settings' => '~^(instance \d) \1 GET$~', '/throws' => '~^instance \d has caught a failure$~'] as $path => $pattern) {
    foreach (S\answers($server, 12, 6, $path) as $answer => $count) {
        preg_match($pattern, $answer) ? $ok += $count : print "$answer\n";
    }
}
echo "$ok handled, ";
spawn(fn() => new Cycle($wrong));
S\answers($server, 12, 12);
S\stopped($server);
gc_collect_cycles();
$all = array_values(array_unique((array) $ended));
sort($all);
echo json_encode([(array) $wrong, $all, Me::$name]);
PHP);
?>
--EXPECT--
without opcache: [0] {"done":100} 48 handled, [[],["instance 0 ends","instance 1 ends","instance 2 ends","instance 3 ends"],null]
with opcache: [0] {"done":100} 48 handled, [[],["instance 0 ends","instance 1 ends","instance 2 ends","instance 3 ends"],null]
with its JIT: [0] {"done":100} 48 handled, [[],["instance 0 ends","instance 1 ends","instance 2 ends","instance 3 ends"],null]
