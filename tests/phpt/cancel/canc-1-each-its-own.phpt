--TEST--
CANC-1 Coroutines that are cancelled together do not see what the others have done to the exception
--FILE--
<?php
use Async\{CancellationException, Scope};
use function Async\{await, delay, spawn};

require __DIR__ . '/kit.inc';

class Mine extends CancellationException
{
    public array $words = ['of', 'the', 'program'];
    public int $copies = 0;
}

function waits(string $name, array &$got): void
{
    try {
        delay(600_000);
    } catch (CancellationException $e) {
        $got[$name] = $e;
        throw $e;
    }
}

function hides(string $secret): void
{
    try {
        throw new LogicException($secret);
    } finally {
        delay(600_000); // what cancels it here gets the exception in flight as its previous one
    }
}

$ways = [
    'scope' => fn(Scope $s, array $all) => $s->cancel(),
    'scope, handed in' => fn(Scope $s, array $all) => $s->cancel($GLOBALS['mine']),
    'group' => function(Scope $s, array $all) { $g = new Async\CoroutineGroup; array_map($g->add(...), $all); $g->cancel($GLOBALS['mine']); },
    'one by one' => function(Scope $s, array $all) { foreach ($all as $one) { $one->cancel($GLOBALS['mine']); T\ended($one); } },
    'failure' => function(Scope $s, array $all) {
        $waits = spawn(fn() => $s->awaitCompletion(Async\timeout(60_000)));
        T\begun($waits);
        $s->spawn(fn() => throw new DomainException('the cause'));
        T\failure($waits);
    },
];
foreach ($ways as $name => $way) {
    $mine = new Mine('mine', previous: new Exception('before'));
    $scope = new Scope;
    $got = [];
    $hides = $scope->spawn('hides', 'secret of A');
    $c = $scope->spawn(function() use (&$got) { waits('c', $got); });
    $d = $scope->spawn(function() use (&$got) { waits('d', $got); });
    T\begun($hides, $c, $d);
    $way($scope, [$hides, $c, $d]);
    T\ended($hides, $c, $d);
    $hidden = $hides->getException();
    for ($last = $hidden; $last->getPrevious(); $last = $last->getPrevious());
    echo "$name: ", get_class($hidden), ' <- ', $last->getMessage(), '; ';
    foreach ($got as $e) {
        echo json_encode([$e === $mine, $e === $hidden, $e->words ?? null, $e->getPrevious()?->getMessage(), (bool) $e->getLine()]), ' ';
    }
    echo json_encode([$got['c'] === $got['d'], $mine->getPrevious()->getMessage(), $mine->getPrevious()->getPrevious()?->getMessage()]), "\n";
    $scope->getErrors();
    unset($scope, $hides, $c, $d);
}
?>
--EXPECT--
scope: Async\CancellationException <- secret of A; [false,false,null,null,true] [false,false,null,null,true] [false,"before",null]
scope, handed in: Mine <- secret of A; [true,false,["of","the","program"],"before",true] [true,false,["of","the","program"],"before",true] [true,"before",null]
group: Mine <- secret of A; [true,false,["of","the","program"],"before",true] [true,false,["of","the","program"],"before",true] [true,"before",null]
one by one: Mine <- secret of A; [false,false,["of","the","program"],"before",true] [false,false,["of","the","program"],"before",true] [false,"before","secret of A"]
failure: Async\CancellationException <- secret of A; [false,false,null,"the cause",true] [false,false,null,"the cause",true] [false,"before",null]
