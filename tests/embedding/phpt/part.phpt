--TEST--
Functions and classes of a part are the extension's; its moments; where its waits are refused
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';
Embedding\report_at_end();
use function Embedding\{channel, dropped, receive, requests, sleeper, suspended};

$extension = new ReflectionExtension('spindle');
$functions = array_filter($extension->getFunctions(), fn ($function) => $function->getNamespaceName() === 'Embedding');
echo count($functions), ' functions, ', count($extension->getFunctions()) - count($functions) > 10 ? 'beside' : 'without', " Spindle's\n";
echo implode(' ', preg_grep('/^Embedding/', $extension->getClassNames())), "\n";
echo (new ReflectionFunction('Embedding\channel'))->getParameters()[0], "\n";
echo (new ReflectionMethod('Embedding\Channel', 'count'))->getReturnType(), "\n";
echo (new ReflectionFunction('Embedding\send'))->getReturnType(), "\n";
echo 'requests: ', requests(), "\n";
$panic = 'coroutines are used outside of a request, or on another thread than PHP\'s';
echo T\php('echo "so: \n", Embedding\other_thread();')->has("so: ", "\n$panic") ? 'refuses another thread' : 'does not', "\n";
$late = T\php('Embedding\spawn_at_process_end(); Async\await(Async\spawn(fn () => 1));');
echo $late->has($panic, 'at the end of the process: refused') ? 'refuses the end of the process' : $late, "\n";

suspended(); // alone, and before the first coroutine
Async\spawn(function () {
    echo "runs\n";
});
suspended();

$unstarted = sleeper(1_000_000);
$unstarted->cancel();

// Suspension is forbidden below the cycle collector.
final class Waits
{
    public ?Waits $self;
    public function __construct()
    {
        $this->self = $this;
    }
    public function __destruct()
    {
        try {
            receive(channel());
        } catch (Async\AsyncException $exception) {
            echo $exception->getMessage(), "\n";
        }
        suspended();
    }
}
new Waits();
gc_collect_cycles();

register_shutdown_function(function () {
    try {
        receive(channel());
    } catch (Async\AsyncException $exception) {
        echo $exception->getMessage(), "\n";
    }
    sleeper(0);
    echo 'dropped: ', dropped(), "\n";
});
--EXPECT--
28 functions, beside Spindle's
Embedding\Channel Embedding\Listener
Parameter #0 [ <optional> int $capacity = 1 ]
int
void
requests: 1
refuses another thread
refuses the end of the process
runs
Cannot await here: the engine allows no switch in this place
Cannot await here: the coroutines have ended, it would never complete
dropped: 1
request end: 1 dropped
