--TEST--
PRIM-2 Future: a failure that nothing receives causes a warning, once, with its class, message and place
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Future, FutureState};
use function Async\{await, awaitAll, awaitAny, select, spawn};

set_error_handler(function(int $level, string $message) {
    echo $level === E_WARNING ? 'Warning: ' : "$level: ", strtok($message, "\n"), "\n";
    return true;
});
$fail = fn(string $text) => (new FutureState)->error(new RuntimeException($text));
$failed = function(string $text): Future { $s = new FutureState; $s->error(new RuntimeException($text)); return new Future($s); };
$fail('no future');
$f = $failed('one future');
unset($f);
$f = Future::failed(new LogicException('failed()'));
unset($f);
echo "-\n";
$quiet = [
    'awaited' => function($f) { try { await($f); } catch (Exception) {} },
    'method' => function($f) { try { $f->await(); } catch (Exception) {} },
    'ignored' => fn($f) => $f->ignore(),
    'caught' => fn($f) => $f->catch(fn() => 1)->await(),
    'many' => function($f) { try { awaitAll([$f]); } catch (Exception) {} },
    'any' => function($f) { try { awaitAny([$f]); } catch (Exception) {} },
    'select' => function($f) { try { select([$f]); } catch (Exception) {} },
    'token' => function($f) { try { await(new Future(new FutureState), $f); } catch (Exception) {} },
    'await_all' => fn($f) => Async\await_all([$f]),
];
foreach ($quiet as $what => $act) {
    $act($failed($what));
    // and when it fails while something waits
    $s = new FutureState;
    $f = new Future($s);
    spawn(fn() => $s->error(new RuntimeException("$what, later")));
    $act($f);
    unset($s, $f);
    T\alone();
}
echo "-\n";
// it goes on to the futures that were made of it, of which one is looked at
$s = new FutureState;
$f = new Future($s);
$seen = $f->map(fn() => 1);
$f->finally(fn() => 1);
$s->error(new RuntimeException('of two, one'));
try { $seen->await(); } catch (RuntimeException) {}
unset($s, $f, $seen);
T\alone();
// a waiter that was cancelled has not received it
$s = new FutureState;
$waiter = (function() use ($s) { $f = new Future($s); return spawn(fn() => await($f)); })();
T\begun($waiter);
$waiter->cancel();
$s->error(new RuntimeException('nobody is left'));
unset($s);
T\ended($waiter);
unset($waiter);
echo "-\n";
$f = $failed('at the end of the script');
echo "end\n";
?>
--EXPECT--
Warning: The failure of a Future was never received: RuntimeException: no future
Warning: The failure of a Future was never received: RuntimeException: one future
Warning: The failure of a Future was never received: LogicException: failed()
-
-
Warning: The failure of a Future was never received: RuntimeException: of two, one
Warning: The failure of a Future was never received: RuntimeException: nobody is left
-
end
Warning: The failure of a Future was never received: RuntimeException: at the end of the script
