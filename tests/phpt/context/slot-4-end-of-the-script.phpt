--TEST--
SLOT-4 main's context ends with the script's own code, before the others run on; exit, failures and fatal errors in it
--FILE--
<?php
require __DIR__ . '/kit.inc';

$head = <<<'PHP'
    use Async\Key;
    use function Async\{await, delay, localContext, spawn, suspend};
    ini_set('log_errors', '0');
    final class Value
    {
        public function __construct(private string $name, private ?Closure $then = null) {}
        public function __destruct() { echo "$this->name is released\n"; $this->then && ($this->then)(); }
    }
    register_shutdown_function(function() {
        echo 'shutdown, ', localContext()->has('value') ? 'still there' : 'gone', "\n";
        suspend();
        localContext()->set('late', new Value('set in the shutdown'));
    });

    PHP;
$endings = [
    'alone' => "localContext()->set('value', new Value('value')); echo \"end\\n\";",
    'key' => "localContext()->set(\$key = new Key, new Value('value')); echo \"end\\n\";",
    'others run on' => "spawn(function() { suspend(); suspend(); delay(10); echo \"other\\n\"; }); localContext()->set('value', new Value('value', fn() => delay(2)));",
    'exit in the script' => "localContext()->set('value', new Value('value')); exit(3);",
    'exit in a coroutine' => "spawn(function() { localContext()->set('value', new Value('of the coroutine')); exit(4); }); localContext()->set('value', new Value('value')); delay(2000);",
    'uncaught' => "localContext()->set('value', new Value('value')); throw new Exception('uncaught');",
    'thrown by a destructor' => "localContext()->set('value', new Value('value', fn() => throw new Exception('of the destructor')));",
    'exit by a destructor' => "spawn(fn() => print(\"RUNS\")); localContext()->set('value', new Value('value', function() { exit(5); }));",
    'exit by a coroutine\'s' => "spawn(function() { localContext()->set('x', new Value('x', function() { exit(6); })); }); delay(600_000); echo 'NOT REACHED';",
    'fatal in a destructor' => "spawn(fn() => print(\"RUNS\")); localContext()->set('value', new Value('value', fn() => trigger_error('fatal', E_USER_ERROR)));",
    'fatal in a coroutine\'s' => "spawn(function() { localContext()->set('x', new Value('x', fn() => trigger_error('fatal', E_USER_ERROR))); }); delay(600_000); echo 'NOT REACHED';",
    'fatal while main\'s waits' => "spawn(function() { delay(5); trigger_error('fatal', E_USER_ERROR); }); localContext()->set('value', new Value('value', function() { delay(60); echo 'NOT REACHED'; }));",
    'cancelled' => "localContext()->set('value', new Value('value')); Async\\currentCoroutine()->cancel(); suspend();",
    'deadlock' => "localContext()->set('value', new Value('value', function() { await(\$GLOBALS['job']); })); \$job = spawn(fn() => await(Async\\getCoroutines()[0]));",
];
foreach ($endings as $name => $code) {
    $ended = T\php($head . $code, '-d display_errors=1 -d html_errors=0');
    $output = preg_replace(['~(Fatal error: |Warning: )(\w+(?: [\w\\\\]+: [\w ]+)?).*?( in .*? on line \d+|$)(.*?thrown in [^\n]*)?~s', '~\n+~', '~/\S+?php-\w+~'], ['$1$2', "\n", 'FILE'], trim(T\as_in_8_2($ended->output)));
    echo "--- $name: $ended->status\n$output\n";
}
?>
--EXPECT--
--- alone: 0
end
value is released
shutdown, gone
set in the shutdown is released
--- key: 0
end
value is released
shutdown, gone
set in the shutdown is released
--- others run on: 0
value is released
other
shutdown, gone
set in the shutdown is released
--- exit in the script: 3
shutdown, still there
value is released
set in the shutdown is released
--- exit in a coroutine: 4
shutdown, still there
value is released
of the coroutine is released
set in the shutdown is released
--- uncaught: 255
value is released
Fatal error: Uncaught Exception: uncaught in 
shutdown, gone
set in the shutdown is released
--- thrown by a destructor: 255
value is released
Fatal error: Uncaught Exception: of the destructor in 
shutdown, gone
set in the shutdown is released
--- exit by a destructor: 5
value is released
shutdown, gone
set in the shutdown is released
--- exit by a coroutine's: 6
x is released
shutdown, gone
set in the shutdown is released
--- fatal in a destructor: 255
value is released
Fatal error: fatal
shutdown, gone
set in the shutdown is released
--- fatal in a coroutine's: 255
x is released
Fatal error: fatal
shutdown, gone
set in the shutdown is released
--- fatal while main's waits: 255
value is released
Fatal error: fatal
shutdown, gone
set in the shutdown is released
--- cancelled: 0
value is released
shutdown, gone
set in the shutdown is released
--- deadlock: 255
value is released
Warning: Deadlock
shutdown, gone
set in the shutdown is released
