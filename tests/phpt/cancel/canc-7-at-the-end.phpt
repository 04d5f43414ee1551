--TEST--
CANC-7 A cancellation that nobody has thrown is thrown at the end of its coroutine
--INI--
async.seed=0
--FILE--
<?php
use Async\{CancellationException, Scope};
use function Async\{await, currentCoroutine, delay, gracefulShutdown, protect, spawn, suspend};

require __DIR__ . '/kit.inc';

class Result
{
    public function __destruct() { suspend(); echo '(its result is gone) '; }
}

$self = fn() => currentCoroutine()->cancel(new CancellationException('stop'));
$ways = [
    'returns' => function() use ($self) { $self(); return new Result; },
    'throws' => function() use ($self) { $self(); throw new LogicException('failure'); },
    'throws another' => function() use ($self) { $self(); throw new CancellationException('another'); },
    'protected' => function() use ($self) { return protect(function() use ($self) { $self(); return 'result'; }); },
    'protected, fails' => function() use ($self) { protect(function() use ($self) { $self(); throw new LogicException('failure'); }); },
    'internal' => fn() => $self(),
    'swallowed before' => function() use ($self) { $self(); try { suspend(); } catch (CancellationException) { } return 'result'; },
    'in a destructor' => function() use ($self) {
        $local = new class($self) {
            public function __construct(public Closure $self) {}
            public function __destruct() { ($this->self)(); }
        };
        return 'result';
    },
];
foreach ($ways as $name => $way) {
    $coroutine = spawn($way);
    $coroutine->onFinally(function($c) { echo json_encode($c->isCancelled()), ' '; });
    echo "$name: ";
    try {
        $result = await($coroutine);
    } catch (Throwable $e) {
        $result = get_class($e) . ' ' . $e->getMessage();
    }
    delay(1); // for what is let go
    echo json_encode([$result, $coroutine->isCancelled(), $coroutine->getResult(), $coroutine->getException()?->getMessage()]), "\n";
}

// One that is never delivered because main has ended is no failure, and changes no status.
currentCoroutine()->cancel();
echo "end\n";
?>
--EXPECT--
returns: true (its result is gone) ["Async\\CancellationException stop",true,null,"stop"]
throws: false ["LogicException failure",false,null,"failure"]
throws another: true ["Async\\CancellationException another",true,null,"another"]
protected: true ["Async\\CancellationException stop",true,null,"stop"]
protected, fails: false ["LogicException failure",false,null,"failure"]
internal: true ["Async\\CancellationException stop",true,null,"stop"]
swallowed before: false ["result",false,"result",null]
in a destructor: true ["Async\\CancellationException stop",true,null,"stop"]
end
