--TEST--
CANC-1 one class under three names, its default message, and subclasses of the program
--FILE--
<?php
use Async\{AsyncCancellation, CancellationError, CancellationException};
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

var_dump(CancellationError::class === CancellationException::class, (new ReflectionClass(AsyncCancellation::class))->getName());
var_dump(is_subclass_of(CancellationException::class, Async\AsyncException::class), get_parent_class(new CancellationError));

final class Reason extends CancellationException
{
    public array $details = [1, 2];
}

$c = spawn(fn() => delay(600_000));
suspend();
$reason = new Reason('of mine', 5, new LogicException('before'));
$c->cancel($reason);
var_dump(T\failure($c) === $reason, $c->getException() === $reason, $reason->details);

// the default message tells the place of the cancel() call
$c = spawn(fn() => delay(600_000));
suspend();
$cancel = function() use ($c) {
    $c->cancel();
};
$cancel();
$e = T\failure($c);
echo get_class($e), ' ', $e->getMessage() === 'cancelled at ' . __FILE__ . ':25' ? 'ok' : $e->getMessage(), "\n";
try {
    throw $e;
} catch (CancellationError $e) {
    echo "caught under its other name\n";
}
?>
--EXPECT--
bool(false)
string(27) "Async\CancellationException"
bool(false)
string(9) "Exception"
bool(true)
bool(true)
array(2) {
  [0]=>
  int(1)
  [1]=>
  int(2)
}
Async\CancellationException ok
caught under its other name
