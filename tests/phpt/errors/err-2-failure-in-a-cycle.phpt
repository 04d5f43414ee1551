--TEST--
ERR-2 a failure of a coroutine that the cycle collector frees is reported whole
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

final class Failed extends DomainException
{
    public array $data = [];
}

set_exception_handler(function (Throwable $e): void {
    echo $e::class, ' ', $e->getMessage(), ' ', json_encode($e->data), ' ', $e->getTrace()[0]['function'], "\n";
});
$cycle = new stdClass;
$cycle->self = $cycle;
$cycle->coroutine = spawn(function () {
    $e = new Failed(strtoupper('message'));
    $e->data = array_map(fn($n) => str_repeat("$n", 20), range(1, 3));
    throw $e;
});
T\turns(10);
unset($cycle);
var_dump(gc_collect_cycles() > 0);
$used_again = [];
for ($n = 0; $n < 200; $n++) {
    $used_again[] = [str_repeat('y', 20 + $n % 7), $n];
}
T\turns(10);
?>
--EXPECTF--
bool(true)
Failed MESSAGE ["11111111111111111111","22222222222222222222","33333333333333333333"] {closure%S}
