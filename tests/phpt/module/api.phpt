--TEST--
The names the extension adds: functions in Async with the documented parameters, and nothing of the kind outside
--FILE--
<?php
foreach (['spawn', 'await', 'suspend', 'delay', 'timeout', 'currentCoroutine', 'localContext', 'getCoroutines', 'dump', 'protect', 'onFinally', 'onExit', 'gracefulShutdown'] as $name) {
    $f = new ReflectionFunction("Async\\$name");
    echo $name, '(', implode(', ', array_map(fn($p) => $p->getType() . ' ' . ($p->isVariadic() ? '...' : '') . '$' . $p->getName() . ($p->isOptional() && !$p->isVariadic() ? ' = ' . json_encode($p->getDefaultValue()) : ''), $f->getParameters())), '): ', $f->getReturnType(), "\n";
}
$outside = array_filter(get_extension_funcs('spindle'), fn($f) => !str_starts_with(strtolower($f), 'async\\'));
var_dump($outside, function_exists('spawn'), function_exists('await'));
$c = new ReflectionClass(Async\Coroutine::class);
var_dump($c->isFinal(), $c->implementsInterface(Async\Awaitable::class));
foreach (['getId', 'isStarted', 'isQueued', 'isRunning', 'isSuspended', 'isCancelled', 'isCancellationRequested', 'isCompleted', 'getResult', 'getException', 'getTrace', 'getSpawnFileAndLine', 'getSpawnLocation', 'getSuspendFileAndLine', 'getSuspendLocation', 'getAwaitingInfo', 'getParent', 'getContext', 'cancel', 'onFinally'] as $method) {
    if (!$c->hasMethod($method) || !$c->getMethod($method)->hasReturnType()) echo "$method is missing or says no type\n";
}
try {
    eval('final class Mine implements Async\Awaitable {}');
    Async\await(new Mine);
    echo "awaited\n";
} catch (Throwable $e) {
    echo get_class($e), "\n";
}
?>
--EXPECTF--
spawn(callable $task, mixed ...$args): Async\Coroutine
await(Async\%s $awaitable, ?Async\Awaitable $cancellation = null): mixed
suspend(): void
delay(int $ms): void
timeout(int $ms): Async\%s
currentCoroutine(): Async\Coroutine
localContext(): Async\Context
getCoroutines(): array
dump(): void
protect(Closure $critical): mixed
onFinally(Closure $callback): void
onExit(Closure $callback): void
gracefulShutdown(?Throwable $e = null): void
array(0) {
}
bool(false)
bool(false)
bool(true)
bool(true)
%A
