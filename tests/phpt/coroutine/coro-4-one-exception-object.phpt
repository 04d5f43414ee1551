--TEST--
CORO-4 every awaiter gets the very same exception object, with the trace of the place that threw it
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

function fails(): never
{
    T\turns(20);
    throw new DomainException('failure');
}

$failing = spawn('fails');
$jobs = [];
for ($i = 0; $i < 5; $i++) {
    $jobs[] = spawn(fn() => T\failure($failing));
}
$exceptions = T\all($jobs);
$exceptions[] = T\failure($failing);
$exceptions[] = $failing->getException();
var_dump(count(array_unique(array_map('spl_object_id', $exceptions))));
$e = $exceptions[0];
echo get_class($e), ' line ', $e->getLine(), ' in ', $e->getTrace()[0]['function'], ', previous: ', json_encode($e->getPrevious()), "\n";
?>
--EXPECT--
int(1)
DomainException line 9 in fails, previous: null
