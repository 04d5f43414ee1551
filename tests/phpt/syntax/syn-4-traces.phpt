--TEST--
SYN-4 traces, warnings and locations name the line of the call as it is written, with strict types and without; nothing else is in them
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\getCoroutines;

$code = <<<'PHP'
    function frames() { return implode(' < ', array_map(fn($f) => ($f['class'] ?? '') . ($f['type'] ?? '') . $f['function'] . ':' . ($f['line'] ?? '-'), array_slice(debug_backtrace(), 1))); }
    function task(...$x) { return frames(); }
    function outer(...$x) { return task(); }
    function fails(...$x) { throw new Exception('x'); }
    class A { public ?A $none = null; public $call; function m(...$x) { return frames(); } static function s(...$x) { return frames(); } function __call($n, $x) { return frames(); } function __invoke() { return frames(); } private function own() { return frames(); }
        function inside() { return await
            spawn $this
                ->own(); } }
    function trace(Throwable $e) { return $e->getLine() . ' ' . str_replace("\n", ' ', preg_replace('~/\S*/\S+?(?=\()|#~', '', $e->getTraceAsString())); }
    function caught($c) { try { await $c; } catch (Throwable $e) { return get_class($e) . ' ' . trace($e); } }
    set_error_handler(fn($level, $text, $file, $line) => print("    warned on line $line\n"));
    $a = new A; $a->call = fn(...$x) => frames();
    $all = [
        'function' => spawn
            task(
                1
            ),
        'through another' => spawn outer(),
        'method' => spawn $a
            ->m(
                1),
        'static' => spawn A::
            s(),
        'magic' => spawn $a->magic(1),
        'invoked' => spawn $a(),
        'nullsafe' => spawn $a
            ?->m(),
        'closure' => spawn $a->call->__invoke(1),
        'callback' => spawn array_map(
            task(...), [1]),
    ];
    foreach ($all as $name => $c) echo "$name: ", $c->getSpawnFileAndLine()[1], ' | ', is_array($text = await $c) ? $text[0] : $text, "\n";
    echo 'private: ', $a->inside(), "\n";
    $c = spawn
        fails(1,
            2);
    echo 'fails: ', caught($c), "\n";
    echo 'of PHP: ', caught(spawn strrev([])), "\n";
    echo 'too few: ', caught(spawn task2()), "\n";
    function task2($x) {}
    $c = spawn fopen('/no/such',
        'r'); await $c;
    await spawn trigger_error('x');
    await spawn array_map(fn() => trigger_error('in a callback'), [1]);
    $exception = await spawn call_user_func(fn() => new Exception('made'));
    echo 'made: ', trace($exception), "\n";
    function generates() { yield frames(); throw new Exception('x'); }
    try { foreach (await spawn generates() as $x) echo 'generator: ', $x, "\n"; } catch (Exception $e) { echo 'generator: ', trace($e), "\n"; }
    function parks() { while (!isset($GLOBALS['go'])) suspend; }
    $c = spawn parks(); while (!$c->isSuspended()) suspend;
    $u = spawn usleep(
        30_000); while (!$u->isSuspended()) suspend;
    foreach ([$c, $u] as $parked) echo 'parked: ', json_encode(array_map(fn($f) => [$f['function'], $f['line'] ?? 0], $parked->getTrace())), ' ', $parked->getSuspendFileAndLine()[1], "\n";
    ob_start(); Async\dump(); echo preg_replace(['~\d\.\d~', '~/\S*/[\w-]+~', '~#\d+~'], ['N', 'FILE', '#'], ob_get_clean());
    $go = true; await $c; await $u;
    PHP;
$plain = T\as_in_8_2(T\php("\n$code"));
$strict = T\as_in_8_2(T\php("declare(strict_types=1);\n$code"));
echo $plain, "\n";
if ($plain !== $strict) echo $strict, "\n";

echo "-- uncaught\n";
foreach (['', 'declare(strict_types=1);'] as $declare) echo preg_replace('~spindle-phpt-\w+~', 'FILE', short(T\php("$declare\nfunction fails(\$x) {\n    throw new Exception('x');\n}\nawait\n  spawn fails(\n    1\n);"))), "\n";

echo "-- where the scope is closed, it is the operator that throws\n";
$scope = new Async\Scope;
T\ended($scope->spawn(function () use ($scope) {
    $scope->cancel();
    $o = new ArrayObject;
    foreach (['strrev("x")', '$o->count()', '$o?->count()', 'T\php(1)', 'function { }'] as $call) {
        try { eval("spawn $call;"); } catch (Async\AsyncException $e) { echo $call, ': ', $e->getMessage(), ', ', str_replace("\n", ' ', short(explode('eval()', $e->getTraceAsString())[0])), "\n"; }
    }
}));
?>
--EXPECTF--
[0] function: 17 | task:17
through another: 20 | task:5 < outer:20
method: 22 | A->m:22
static: 25 | A::s:25
magic: 26 | A->__call:26
invoked: 27 | A->__invoke:27
nullsafe: 29 | A->m:29
closure: 30 | {closure%S}:30
callback: 31 | task:- < array_map:31
private: A->own:10
fails: Exception 6 0 (37): fails(1, 2) 1 {main}
of PHP: TypeError 40 0 (40): strrev(Array) 1 {main}
too few: ArgumentCountError 42 0 (41): task2() 1 {main}
    warned on line 43
    warned on line 45
    warned on line 46
made: 47 0 [internal function]: {closure%S() 1 (47): call_user_func(Object(Closure)) 2 {main}
generator: generates:50
generator: 49 0 (50): generates() 1 {main}
parked: [["Async\\suspend",51],["parks",52]] 51
parked: [["usleep",53]] 53
Async\dump: 3 coroutines in 1 scope
global scope, lifetime scope, open: 3 coroutines
  # running, the script itself
  # queued, spawned at FILE:52, suspended at FILE:51
  # suspended, spawned at FILE:53, suspended at FILE:53, waits in usleep() for N s

-- uncaught
[255] 
Fatal error: Uncaught Exception: x in FILE:4
Stack trace:
#0 FILE(7): fails(1)
#1 {main}
  thrown in FILE on line 4

[255] 
Fatal error: Uncaught Exception: x in FILE:4
Stack trace:
#0 FILE(7): fails(1)
#1 {main}
  thrown in FILE on line 4

-- where the scope is closed, it is the operator that throws
strrev("x"): Coroutine scope is closed, #0 syn-4-traces.php(76): 
$o->count(): Coroutine scope is closed, #0 syn-4-traces.php(76): 
$o?->count(): Coroutine scope is closed, #0 syn-4-traces.php(76): 
T\php(1): Coroutine scope is closed, #0 syn-4-traces.php(76): 
function { }: Coroutine scope is closed, #0 syn-4-traces.php(76) :
