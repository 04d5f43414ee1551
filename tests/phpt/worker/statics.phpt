--TEST--
Static properties that a setting lists are each request's own in worker mode
--INI--
async.request_statics="Facade::app, Base::kept,Facade::secret, Child::inherited"
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await, delay};

class App
{
    public ?string $user = null;
    public function __construct(public string $name) {}
    public function __destruct() { $GLOBALS['destructed'] = ($GLOBALS['destructed'] ?? 0) + 1; }
}
class Facade
{
    public static App $app;
    private static array $secret = ['initial'];
    public static int $shared = 0;
    public static function remember(string $n): void { self::$secret[] = $n; }
    public static function secret(): array { return self::$secret; }
}
class Base { public static $kept = 'default'; public static $inherited; }
class Child extends Base {}

Facade::$app = new App('booted');
$server = S\worker(function () {
    $n = $_GET['n'];
    $found = [Facade::$app->name, Base::$kept, Facade::secret(), Child::$inherited, Base::$inherited];
    Facade::$app = new App($n);
    Facade::remember($n);
    $reference = &Base::$kept;
    Child::$inherited = new ArrayObject([$n]);
    for ($i = 0; $i < 5; $i++) {
        $reference .= ",$n";
        Facade::$shared++;
        usleep(random_int(0, 500));
    }
    $child = spawn(fn() => Facade::$app->name . count(Facade::secret()));
    echo json_encode([$found === ['booted', 'default', ['initial'], null, null], Facade::$app->name === $n, Base::$kept === 'default' . str_repeat(",$n", 5),
        Facade::secret() === ['initial', $n], Base::$inherited[0] === $n, await($child) === "{$n}2"]);
});
$clients = array_map(fn($n) => spawn(fn() => S\answer($server, "/?n=$n")), range(1, 60));
echo json_encode(array_count_values(array_map(await(...), $clients))), "\n";
delay(1);
var_dump(Facade::$app->name, Base::$kept, Facade::secret(), Base::$inherited, Facade::$shared, $destructed);
$server->stop();
?>
--EXPECT--
{"200 [true,true,true,true,true,true]":60}
string(6) "booted"
string(7) "default"
array(1) {
  [0]=>
  string(7) "initial"
}
NULL
int(300)
int(60)
