--TEST--
APP-1 APP-2 APP-3 APP-6 instances whose code loads, boots, ends and forks in awkward ways
--EXTENSIONS--
pcntl
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';

$folder = T\work_in([
    'Constants.php' => '<?php class Constants { const A = Other::X . "a"; public static $s = Other::Y . "b"; public $p = Other::X; }',
    'Other.php' => '<?php class Other { const X = "x"; const Y = "y"; }',
    'Parents.php' => '<?php usleep(500); class Parents { public static $n = 0; public static $late = Other::Y; public function f() { static $k = 0; return ++$k; } }',
    'Late0.php' => '<?php class Late0 {}', 'Late1.php' => '<?php class Late1 {}',
    'Child.php' => '<?php class Child extends Parents { public static $own = []; }',
    'config.php' => '<?php return ["one" => function () { static $n = 0; return [++$n, Parents::$n]; }];',
]);
S\in_each_mode("define('FOLDER', '$folder');" . <<<'PHP'
use function Async\{await, delay, spawn};
spl_autoload_register(function (string $class) { usleep(300); $file = FOLDER . "/$class.php"; is_file($file) && require $file; });
echo Constants::A, ' ';
$log = S\log_file();

// What is loaded and evaluated in one instance after the other, and again after each boot.
$server = S\application(function () {
    spl_autoload_register(function (string $class) { Loaded::$by[] = $class; $class === 'Alias' && class_alias('Child', 'Alias'); }, true, true);
    eval('if (!class_exists("Loaded", false)) { class Loaded { public static $by = []; } }');
    $count = count(spl_autoload_functions());
    $config = require FOLDER . '/config.php';
    return function () use ($config, $count) {
        static $requests = 0;
        $requests++;
        Child::$n++;
        Child::$own[] = 1;
        usleep(random_int(0, 2000));
        class_exists('Alias');
        $ok = [Constants::$s, Child::$n, Parents::$n, (new Child)->f(), (new Parents)->f(), Child::$late, count(Child::$own), (new Constants)->p, ($config['one'])(), count(spl_autoload_functions())]
            === ['yb', $requests, $requests, 2 * $requests - 1, 2 * $requests, 'y', $requests, 'x', [$requests, $requests], $count] && count(array_unique(Loaded::$by)) === count(Loaded::$by);
        echo $ok ? 'right' : 'wrong ' . json_encode([$requests, Constants::$s, Child::$n, Parents::$n, Child::$late, Child::$own, Loaded::$by, $count, count(spl_autoload_functions())]);
    };
}, 4, ['instance_requests' => 3]);
echo json_encode(S\answers($server, 120, 8)), ', autoloaders: ', count(spl_autoload_functions()), ', ';
S\stopped($server);

// Coroutines that requests leave end with their instance.
$left = new ArrayObject;
$ended = new ArrayObject;
final class Ends { public static ?Ends $kept = null; public function __construct(private ArrayObject $ended) {} public function __destruct() { $this->ended[] = self::$kept === $this; } }
$server = S\application(function () use ($left, $ended) { Ends::$kept = new Ends($ended); return function () use ($left) {
    $stays = spawn(function () use ($left) {
        try {
            delay(3_600_000);
        } finally {
            $left[] = 1;
        }
    });
    T\begun($stays);
    echo 'left';
}; }, 2, ['instance_requests' => 2]);
echo json_encode(S\answers($server, 20, 4)), ' ';
T\until(fn() => count($ended) >= 9); // none is kept because something is left in it
S\stopped($server);
echo count($left), ' ended, ';

// The boot cannot have what is in the middle of the script's code.
$half = (function () { $x = yield 1; })();
$half->current();
try {
    (new Async\Http\Server)->listen('127.0.0.1:0')->application(fn() => fn() => $half->next(), 2)->run();
} catch (Async\Http\ServerException $e) {
    echo strstr(substr($e->getMessage(), strpos($e->getMessage(), 'leads')), ':', true), ', ';
}
unset($half, $e);

// A client that leaves costs no instance if the response would have been sent at the end.
$begun = new ArrayObject;
$server = S\application(function () use ($begun) { return function () use ($begun) {
    static $requests = 0;
    $requests++;
    $begun[] = 1;
    while (isset($_GET['leaves']) && !connection_aborted()) usleep(500);
    echo str_repeat(' ', 10_000), $requests;
}; }, 1);
$client = S\connect($server);
fwrite($client, S\request('GET', '/?leaves'));
T\until(fn() => count($begun) === 1);
fclose($client);
echo trim(S\get($server, '/')), ' requests, ';
S\stopped($server);

// A boot that always fails leaks nothing, and none keeps the server from stopping.
$boots = 0;
$server = S\application(function () use (&$boots) { $boots++; $GLOBALS['large'] = [str_repeat('x', 1_000_000), new ArrayObject]; throw new Exception('no'); }, 1);
S\status(S\send($server, S\request('GET', '/'))) === '503' || print 'not refused ';
$before = memory_get_usage();
for ($last = 1; $boots < 3; ) {
    S\get($server, '/');
}
T\until(fn() => memory_get_usage() - $before < 100_000);
echo 'no leak, ';
S\stopped($server);
$server = S\application(function () { delay(3_600_000); return fn() => 1; }, 2);
$waits = spawn(S\get(...), $server, '/');
T\until(fn() => $server->stats()['running'] === 1);
$server->stop(0.0);
await($GLOBALS['runs'][$server]);
await($waits);
$boots = 0;
$server = S\application(function () use (&$boots) { $boots++; delay(3_600_000); return fn() => 1; }, 2, [], true);
T\until(function () use (&$boots) { return $boots === 2; });
S\stopped($server);
echo 'stopped, ';

// One that an instance unregisters is still there for others; as when all are wrapped.
$server = S\application(function (int $instance) {
    $before = spl_autoload_functions();
    foreach ($before as $one) {
        spl_autoload_unregister($one) || print 'not unregistered ';
        spl_autoload_register(function (string $class) use ($one) { Wrapped::$classes[] = $class; $one($class); });
    }
    spl_autoload_unregister('nothing') && print 'unregistered nothing ';
    return function () use ($before, $instance) {
        $found = class_exists($instance ? 'Late1' : 'Late0');
        usleep(2000);
        echo $found && count(spl_autoload_functions()) === count($before) && spl_autoload_functions() != $before
            && Wrapped::$classes === [$instance ? 'Late1' : 'Late0'] ? 'wrapped' : json_encode([$found, count(spl_autoload_functions()), count($before), Wrapped::$classes]);
    };
}, 2, [], true);
final class Wrapped { public static array $classes = []; }
$count = count(spl_autoload_functions());
echo json_encode(S\answers($server, 2, 2)), ' ', count(spl_autoload_functions()) - $count, ', ';
S\stopped($server);

// Autoloaders that only their class may call, and one that is registered twice.
final class Loader
{
    public static array $asked = [];
    public function register(): void { spl_autoload_register([$this, 'load']); spl_autoload_register([$this, 'load']); spl_autoload_register('self::own'); }
    private function load(string $class): void { self::$asked[] = $class; }
    private static function own(string $class): void { self::$asked[] = "own $class"; }
}
$server = S\application(function (int $instance) {
    (new Loader)->register();
    return function () use ($instance) {
        class_exists("None$instance");
        echo Loader::$asked === ["None$instance", "own None$instance"] ? 'asked' : json_encode(Loader::$asked);
    };
}, 2, ['instance_requests' => 1]);
echo json_encode(S\answers($server, 6, 2)), ', ';
S\stopped($server);

// The child of a fork destroys nothing of other instances.
final class Destroyed { public static string $by = '?'; public function __construct(public string $file) {} public function __destruct() { file_put_contents($this->file, self::$by, FILE_APPEND); } }
$kept = tempnam(sys_get_temp_dir(), 'spindle-phpt-');
$server = S\application(function (int $instance) use ($kept) {
    $object = new Destroyed($kept);
    Destroyed::$by = 'x';
    return function () use ($object) {
        if ($_SERVER['REQUEST_URI'] === '/fork') {
            $pid = pcntl_fork();
            $pid === 0 && exit;
            pcntl_waitpid($pid, $status);
        }
        usleep(1000);
        echo 'x';
    };
}, 3);
S\answers($server, 9, 9);
S\get($server, '/fork');
echo file_get_contents($kept), ' destroyed by the child, ';
S\stopped($server);
echo file_get_contents($kept), ' in all, ';
unlink($kept);

// The script exits while instances run: their destructors are called as code of theirs.
final class Name { public static ?string $of = 'the script'; }
final class Tells { public function __destruct() { echo Name::$of, ' '; } }
$server = S\application(function (int $instance) { Name::$of = "instance $instance"; $GLOBALS['tells'] = new Tells; return fn() => print 'x'; }, 1);
S\get($server, '/');
exit;
PHP);
?>
--EXPECT--
without opcache: [0] xa {"right":120}, autoloaders: 1, {"left":20} 20 ended, leads to a generator of the script, 2 requests, no leak, stopped, {"wrapped":2} 0, {"asked":6}, x destroyed by the child, xxxx in all, instance 0 
with opcache: [0] xa {"right":120}, autoloaders: 1, {"left":20} 20 ended, leads to a generator of the script, 2 requests, no leak, stopped, {"wrapped":2} 0, {"asked":6}, x destroyed by the child, xxxx in all, instance 0 
with its JIT: [0] xa {"right":120}, autoloaders: 1, {"left":20} 20 ended, leads to a generator of the script, 2 requests, no leak, stopped, {"wrapped":2} 0, {"asked":6}, x destroyed by the child, xxxx in all, instance 0 
