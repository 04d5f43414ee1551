--TEST--
What outlives a request in worker mode: coroutines, references, garbage, destructors; clients that leave; finish()
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await, delay};

class Loud
{
    public $self;
    function __construct(public string $name) {}
    function __destruct() { $GLOBALS['log'][] = "$this->name destructed with " . ($_GET['n'] ?? 'none'); }
}
$log = [];
$gate = new Async\Channel(8);
$server = S\worker(function () use ($gate) {
    $n = $_GET['n'];
    switch ($_GET['how']) {
        case 'outlives':
            spawn(function () use ($n, $gate) {
                $value = $gate->recv();
                $GLOBALS['log'][] = "child $n has {$_GET['n']}, $value";
                $gate->send('done');
            });
            $_GET['object'] = new Loud("superglobal $n");
            break;
        case 'reference':
            $GLOBALS['kept'] = &$_GET;
            $_GET['kept'] = 'by reference';
            break;
        case 'unset':
            unset($_GET['how'], $GLOBALS['_POST'], $_COOKIE);
            usleep(1000);
            echo json_encode([isset($_POST), isset($_COOKIE), $_GET]);
            return;
        case 'garbage':
            $_SERVER['cycle'] = $cycle = new Loud("cycle $n");
            $cycle->self = $cycle;
            unset($cycle);
            gc_collect_cycles();
            usleep(500);
            gc_collect_cycles();
            echo $_SERVER['cycle']->name, ' ';
            break;
        case 'finish':
            echo 'answered ';
            header('X-Y: z');
            var_dump(Async\Http\finish(), Async\Http\finish());
            $gate->recv();
            echo 'not seen';
            $GLOBALS['log'][] = "went on with {$_GET['n']}, " . json_encode(headers_sent());
            return;
        case 'leaves':
            register_shutdown_function(function () use ($n) { $GLOBALS['log'][] = "left $n: " . connection_aborted(); });
            ignore_user_abort($n === '2');
            $gate->send('begun');
            while (!connection_aborted()) {
                usleep(500);
            }
            echo str_repeat('x', 5000);
            flush();
            $GLOBALS['log'][] = "went on $n";
            return;
    }
    usleep(500);
    echo "n$n";
});
$show = function () use (&$log) { echo implode("\n", $log), $log ? "\n" : ''; $log = []; };
echo S\answer($server, '/?how=outlives&n=1'), "\n";
echo S\answer($server, '/?how=none&n=2'), "\n";
$show();
$gate->send('value');
echo $gate->recv(), "\n";
delay(1);
$show();
echo S\answer($server, '/?how=reference&n=3'), "\n";
echo S\answer($server, '/?how=reference&n=4'), "\n";
echo json_encode($kept), json_encode($_GET), "\n";
echo S\answer($server, '/?how=unset&n=5'), "\n";
echo S\answer($server, '/?how=garbage&n=6'), "\n";
delay(1);
gc_collect_cycles();
$show();
$finishing = spawn(fn() => S\answer($server, '/?how=finish&n=7'));
echo await($finishing), "\n";
$gate->send('go');
T\until(fn() => $server->stats()['running'] === 0);
$show();
foreach ([1, 2] as $n) {
    $client = S\connect($server);
    fwrite($client, S\request('GET', "/?how=leaves&n=$n"));
    $gate->recv();
    fclose($client);
    T\until(fn() => $server->stats()['running'] === 0);
    $show();
}
$server->stop();
var_dump(Async\Http\finish());
try {
    (new Async\Http\Server)->listen('127.0.0.1:0')->worker('nothing like this');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
200 n1
200 n2
done
child 1 has 1, value
superglobal 1 destructed with none
200 n3
200 n4
{"how":"reference","n":"4","kept":"by reference"}[]
200 [false,false,{"n":"5"}]
200 cycle 6 n6
cycle 6 destructed with none
200 answered
went on with 7, true
left 1: 1
went on 2
left 2: 1
bool(false)
Async\Http\Server::worker(): Argument #1 ($handler) must be a valid callback, function "nothing like this" not found or invalid function name
