--TEST--
ERR-3 status 255, with and without an exception handler; a handler that throws; the handler runs after the cleanups
--FILE--
<?php
require __DIR__ . '/kit.inc';

$codes = [
    'no handler' => 'spawn(fn() => throw new Exception("on purpose"));',
    'handler' => 'set_exception_handler(function($e) { echo get_class($e), " handled"; });
        $c = spawn(function() { try { delay(600_000); } finally { delay(5); echo "cleaned, "; } });
        spawn(function() use ($c) { while (!$c->isStarted()) suspend(); throw new DomainException("on purpose"); });',
    'handler that throws' => 'set_exception_handler(fn($e) => throw new LogicException("of the handler"));
        spawn(fn() => throw new DomainException("on purpose"));',
    'handler that blocks' => 'set_exception_handler(function($e) { usleep(1000); echo "slept"; });
        spawn(fn() => throw new DomainException("on purpose"));',
    'handler set by a coroutine' => '$c = spawn(function() { set_exception_handler(fn($e) => print("handled")); suspend(); });
        spawn(function() use ($c) { await($c); throw new DomainException("on purpose"); });',
    'Error' => 'spawn(fn() => no_such_function());',
    'in the script, after coroutines' => 'await(spawn(fn() => delay(5))); throw new Exception("on purpose");',
    'awaited by one that fails' => '$c = spawn(fn() => throw new DomainException("on purpose")); spawn(fn() => await($c)); unset($c);',
];
foreach ($codes as $name => $code) {
    $ended = T\php("use function Async\\{await, delay, spawn, suspend};\n$code");
    $text = preg_match_all('/Uncaught (\w+): ([^\n]*?) in /', $ended->output, $m) ? implode(' + ', $m[0]) : $ended->output;
    echo "$name: [$ended->status] $text\n";
}
?>
--EXPECT--
no handler: [255] Uncaught Exception: on purpose in 
handler: [255] cleaned, DomainException handled
handler that throws: [255] Uncaught LogicException: of the handler in 
handler that blocks: [255] slept
handler set by a coroutine: [255] handled
Error: [255] Uncaught Error: Call to undefined function no_such_function() in 
in the script, after coroutines: [255] Uncaught Exception: on purpose in 
awaited by one that fails: [255] Uncaught DomainException: on purpose in 
