--TEST--
CORO-12 a fatal error in a coroutine: message, shutdown functions, status 255, and nobody else runs on
--FILE--
<?php
require __DIR__ . '/kit.inc';

$fatal = [
    'E_USER_ERROR' => ['trigger_error("on purpose", E_USER_ERROR);', 'Fatal error: on purpose'],
    'in nested callbacks' => ['array_map(fn() => preg_replace_callback("/x/", fn() => trigger_error("on purpose", E_USER_ERROR), "x"), [1]);', 'Fatal error: on purpose'],
    'redeclared class' => ['eval("class A {} class A {}");', PHP_VERSION_ID < 80400 ? 'Fatal error: Cannot declare class A' : 'Fatal error: Cannot redeclare class A'],
    'bad inheritance' => ['eval("interface I { function f(int \$x); } class B implements I { function f() {} }");', 'Fatal error: Declaration of B::f()'],
    'memory' => ['$x = str_repeat("x", 1 << 30);', 'Fatal error: Allowed memory size'],
    'memory, bit by bit' => ['$x = []; while (true) { $x[] = str_repeat("x", 100_000); Async\suspend(); }', 'Fatal error: Allowed memory size'],
    'after a suspension' => ['Async\suspend(); usleep(1000); trigger_error("on purpose", E_USER_ERROR);', 'Fatal error: on purpose'],
    'in a destructor' => ['final class D { function __destruct() { Async\suspend(); trigger_error("on purpose", E_USER_ERROR); } } new D;', 'Fatal error: on purpose'],
    'in a generator' => ['foreach ((function() { yield trigger_error("on purpose", E_USER_ERROR); })() as $x);', 'Fatal error: on purpose'],
    'abstract instantiation, not caught' => ['new class { function __construct() { (new ReflectionClass("FilterIterator"))->newInstance(); } };', 'Fatal error: Uncaught Error'],
];
foreach ($fatal as $name => [$code, $message]) {
    $ended = T\php(<<<PHP
        register_shutdown_function(function() { echo "shutdown function, last error ", error_get_last()['type'] ?? 'none', "\\n"; });
        Async\spawn(function() { try { Async\suspend(); Async\delay(600_000); } finally { if (!getenv('FINALLY')) echo ""; } echo "NOT REACHED\\n"; });
        Async\spawn(function() { $code echo "NOT REACHED\\n"; });
        Async\delay(600_000);
        echo "NOT REACHED\\n";
        PHP);
    T\check($name, $ended->status === 255 && $ended->has($message, 'shutdown function') && !$ended->has('NOT REACHED'), $ended);
}
?>
--EXPECT--
E_USER_ERROR: yes
in nested callbacks: yes
redeclared class: yes
bad inheritance: yes
memory: yes
memory, bit by bit: yes
after a suspension: yes
in a destructor: yes
in a generator: yes
abstract instantiation, not caught: yes
