--TEST--
CORO-12 exit in a coroutine, and beside some: status, order of destructors and of generators' finally blocks as without any
--FILE--
<?php
require __DIR__ . '/kit.inc';

$all = <<<'PHP'
    class D { function __construct(public $name) {} function __destruct() { echo "~$this->name "; } }
    register_shutdown_function(function () { echo 'shutdown '; });
    $global = new D('global');
    function values() { try { $local = new D('of-a-generator'); yield 1; yield 2; } finally { echo 'finally '; } }
    $generator = values();
    $generator->current();
    PHP;
// What runs meanwhile: generators that are in the middle of a value, by themselves and for others.
$others = <<<'PHP'
    use function Async\{await, spawn, suspend};
    function pause() { suspend(); }
    function endless() { try { yield 1; while (true) suspend(); } finally { echo 'FINALLY '; } }
    function iterator() { return new class implements Iterator {
        function current(): mixed { return 1; }
        function key(): mixed { return 1; }
        function next(): void { while (true) suspend(); }
        function rewind(): void {}
        function valid(): bool { return true; }
    }; }
    function delegates($to) { try { yield from $to; } finally { echo 'FINALLY '; } }
    spawn(function () { foreach (endless() as $value); });
    spawn(function () { foreach (delegates(delegates(endless())) as $value); });
    spawn(function () { foreach (delegates(iterator()) as $value); });
    spawn(function () { $f = new Fiber(function () { foreach (delegates(endless()) as $value); }); $f->start(); });
    spawn(function () { try { suspend(); while (true) suspend(); } finally { echo 'FINALLY '; } });
    $shared = endless();
    spawn(function () use ($shared) { foreach ($shared as $value); });
    for ($i = 0; $i < 3; $i++) suspend();
    PHP;
$ends = [
    'plain' => 'exit(7);',
    'a callback of usort' => '$list = [2, 1]; usort($list, function () { pause(); exit(7); });',
    'a generator' => 'foreach (ends() as $value);',
    'a generator for another' => 'foreach ((function () { try { yield from ends(); } finally { echo "NEVER "; } })() as $value);',
    'a destructor' => '$x = new class { function __destruct() { pause(); exit(7); } }; unset($x);',
    'an output buffer' => 'ob_start(function ($text) { exit(7); }); echo "text "; ob_end_flush();',
    'an error handler' => 'set_error_handler(function () { pause(); exit(7); }); echo $undefined;',
    'finally' => 'try { throw new Exception; } finally { pause(); exit(7); }',
    'a fiber' => '$f = new Fiber(function () { $d = new D("in-a-fiber"); exit(7); }); $f->start();',
    'beside a fiber' => '$f = new Fiber(function () { try { Fiber::suspend(); } finally { echo "of-a-fiber "; } }); $f->start(); pause(); exit(7);',
    'calls' => '$a = new D("a"); (function () { $b = new D("b"); pause(); exit(7); })();',
    'an include' => 'eval("\$c = new D(\"c\"); pause(); exit(7);");',
    'a shutdown function' => 'register_shutdown_function(function () { echo "second "; exit(8); }); pause(); exit(7);',
];
$wrong = 0;
foreach ($ends as $name => $code) {
    $body = <<<PHP
        function ends() { \$d = new D('in-a-generator'); try { yield 1; pause(); exit(7); } finally { echo 'NEVER '; } }
        function body() { \$local = new D('local'); $code }
        PHP;
    $stock = rtrim(T\command(getenv('TEST_PHP_EXECUTABLE') . ' -n -r '
        . escapeshellarg("namespace { $all function pause() {} $body body(); }")));
    echo "$name: $stock\n";
    $ways = ['in a coroutine' => 'spawn(body(...));', 'in main' => 'body();',
        'awaited in a function' => '(function () { $x = spawn(body(...)); foreach ((fn() => yield from [await($x)])() as $y); })();',
        'awaited in a fiber' => '(new Fiber(fn() => await(spawn(body(...)))))->start();'];
    foreach ($ways as $way => $call) {
        $ended = rtrim(T\php("$others $all $body $call"));
        if ($ended !== $stock) {
            $wrong++;
            echo "  $way: $ended\n";
        }
    }
}
echo "$wrong differ\n";
?>
--EXPECT--
plain: [7] ~local shutdown finally ~of-a-generator ~global
a callback of usort: [7] ~local shutdown finally ~of-a-generator ~global
a generator: [7] ~in-a-generator ~local shutdown finally ~of-a-generator ~global
a generator for another: [7] ~in-a-generator ~local shutdown finally ~of-a-generator ~global
a destructor: [7] ~local shutdown finally ~of-a-generator ~global
an output buffer: [7] text ~local shutdown finally ~of-a-generator ~global
an error handler: [7] ~local shutdown finally ~of-a-generator ~global
finally: [7] ~local shutdown finally ~of-a-generator ~global
a fiber: [7] ~in-a-fiber ~local shutdown finally ~of-a-generator ~global
beside a fiber: [7] ~local of-a-fiber shutdown finally ~of-a-generator ~global
calls: [7] ~b ~local ~a shutdown finally ~of-a-generator ~global
an include: [7] ~local ~c shutdown finally ~of-a-generator ~global
a shutdown function: [8] ~local shutdown second ~of-a-generator ~global
0 differ
