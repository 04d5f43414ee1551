--TEST--
CORO-1 PHP's own functions that are spawned know whose call it is: its line, its class, variables for files that they include
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/kit.inc';
use Async\{CoroutineGroup, Scope};
use function Async\{await, spawn, suspend};

T\work_in(['loaded.php' => '<?php $one = 1; $two = [$one, $three ?? null]; Async\suspend(); class Loaded { const TWO = [1, null]; } echo json_encode([$two, array_keys(get_defined_vars())]), "\n";', 'also.inc' => '<?php $x = 5; class Also {}', 'first.inc' => '<?php class First { public $x = Also::class; function __wakeup() { echo class_exists(Also::class) ? "both\n" : "one\n"; } }']);

// one that includes a file
spl_autoload_register();
set_include_path(getcwd());
spl_autoload_extensions('.php,.inc');
var_dump(await(spawn('class_exists', 'Loaded')));
await(spawn('spl_autoload', 'also'));
await(spawn('unserialize', 'O:5:"First":0:{}'));
var_dump(class_exists('Also', false), isset($one), isset($x));

// whose messages have a place
set_error_handler(fn($level, $text, $file, $line) => print(basename($file) . ":$line: $text\n"));
$scope = new Scope;
$group = new CoroutineGroup;
await(spawn('fopen', '/no/such', 'r'));
await($scope->spawn('trigger_error', 'of a scope'));
await($group->spawn('trigger_error', 'of a group'));
$e = T\failure(spawn('str_repeat',
    'x', -1));
echo get_class($e), ' ', basename($e->getFile()), ':', $e->getLine(), ' ', preg_replace('~/\S*/~', '', explode("\n", $e->getTraceAsString())[0]), "\n";
// a call by the engine is not strict
echo await(spawn('strrev', 12)), "\n";

// what they may see
class Base { protected static function name() { return 'base'; } }
final class Inside extends Base
{
    private int $secret = 5;
    private function double($x) { suspend(); return $x * 2; }
    protected static function name() { return 'inside'; }
    public function run(): array
    {
        return [await(spawn('array_map', [$this, 'double'], [1, 2])), await(spawn('call_user_func', [self::class, 'name'])), await(spawn('get_object_vars', $this)), await(spawn('is_callable', [$this, 'double'])), await(spawn('forward_static_call', [parent::class, 'name']))];
    }
}
echo json_encode((new Inside)->run()), "\n";
echo get_class(T\failure(spawn('array_map', [new Inside, 'double'], [1]))), "\n";
foreach ([['compact', 'x'], ['get_defined_vars'], ['func_get_args'], ['extract', ['x' => 1]]] as $call) {
    echo T\failure(spawn(...$call))->getMessage(), "\n";
}
?>
--EXPECT--
[[1,null],["one","two"]]
bool(true)
both
bool(true)
bool(false)
bool(false)
coro-1-functions-of-php.php:22: fopen(/no/such): Failed to open stream: No such file or directory
coro-1-functions-of-php.php:23: of a scope
coro-1-functions-of-php.php:24: of a group
ValueError coro-1-functions-of-php.php:25 #0 coro-1-functions-of-php.php(25): str_repeat('x', -1)
21
[[2,4],"inside",{"secret":5},true,"base"]
TypeError
Cannot call compact() dynamically
Cannot call get_defined_vars() dynamically
Cannot call func_get_args() dynamically
Cannot call extract() dynamically
