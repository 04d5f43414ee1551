--TEST--
PRIM-4 a later failure of what awaitAll() and its kin have given up is no unhandled one; after a token or a cancellation it is
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CoroutineGroup, Future, FutureState};
use function Async\{await, awaitAll, awaitAny, awaitAnyOf, awaitFirst, spawn, suspend, timeout};

$after = fn(int $turns, mixed $result) => spawn(function() use ($turns, $result) {
    while ($turns-- > 0) suspend();
    if ($result instanceof Throwable) {
        echo "fails later\n";
        throw $result;
    }
    return $result;
});
$bad = fn() => new RuntimeException('not handled');
$fails = fn() => spawn(fn() => throw new LogicException('the first'));
attempt('awaitAll', fn() => awaitAll([$fails(), $after(5, $bad())]));
T\alone();
attempt('awaitAll, failed before', fn() => awaitAll([$after(5, $bad()), Future::failed(new LogicException('the first'))]));
T\alone();
attempt('awaitAny', fn() => awaitAny([spawn(fn() => 'result'), $after(5, $bad())]));
T\alone();
attempt('awaitAny, complete before', fn() => awaitAny([$after(5, $bad()), Future::completed('result')]));
T\alone();
attempt('awaitFirst', fn() => awaitFirst([$fails(), $after(2, 'result'), $after(5, $bad())]));
T\alone();
attempt('awaitAnyOf', fn() => awaitAnyOf(1, [$after(5, $bad()), $after(2, 'result')]));
T\alone();
attempt('group', fn() => awaitAny([Future::completed('result'), (function() use ($after, $bad) { $g = new CoroutineGroup; $g->add($after(5, $bad())); return $g; })()]));
T\alone();
attempt('await_any_of_or_fail', fn() => Async\await_any_of_or_fail(1, [$after(2, 'result'), $after(5, $bad())]));
T\alone();
// its failure can still be asked for
$late = $after(3, $bad());
attempt('awaitAny', fn() => awaitAny([Future::completed('result'), $late]));
attempt('awaited later', fn() => await($late));
foreach (['awaitAll([spawn(function() { suspend(); suspend(); throw new LogicException("unhandled"); })], Future::completed());', '$w = spawn(fn() => awaitAll([spawn(function() { suspend(); suspend(); suspend(); throw new LogicException("unhandled"); })])); suspend(); $w->cancel(); suspend(); suspend(); suspend(); suspend();'] as $code) {
    $ended = T\php("use Async\\Future; use function Async\\{awaitAll, spawn, suspend};\ntry { $code } catch (Async\\AwaitCancelledException) {}");
    T\check('unhandled', $ended->status === 255 && $ended->has('Uncaught LogicException: unhandled'), $ended);
}
?>
--EXPECT--
awaitAll: LogicException: the first
fails later
awaitAll, failed before: LogicException: the first
fails later
awaitAny: "result"
fails later
awaitAny, complete before: "result"
fails later
awaitFirst: "result"
fails later
awaitAnyOf: {"1":"result"}
fails later
group: "result"
fails later
await_any_of_or_fail: ["result"]
fails later
awaitAny: "result"
fails later
awaited later: RuntimeException: not handled
unhandled: yes
unhandled: yes
