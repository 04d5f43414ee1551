--TEST--
SCOPE-5 the global scope is not cancelled, disposed of, handled or awaited, from wherever: the message says what to do
--INI--
async.lifetime=top-down
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, Scope};
use function Async\{await, globalScope, timeout};

$global = globalScope();
$cases = [
    'cancel' => fn() => $global->cancel(), 'cancel with a reason' => fn() => $global->cancel(new CancellationException),
    'dispose' => fn() => $global->dispose(), 'disposeSafely' => fn() => $global->disposeSafely(),
    'disposeAfterTimeout' => fn() => $global->disposeAfterTimeout(5),
    'setExceptionHandler' => fn() => $global->setExceptionHandler('strlen'),
    'setChildScopeExceptionHandler' => fn() => $global->setChildScopeExceptionHandler('strlen'),
];
$waits = [
    'awaitCompletion' => fn() => $global->awaitCompletion(timeout(5)), 'awaitAfterCancellation' => fn() => $global->awaitAfterCancellation(),
    'awaitDirectChildren' => fn() => $global->awaitDirectChildren(), 'await' => fn() => await($global),
];
foreach ($cases + $waits as $name => $case) {
    attempt($name, $case);
}
$root = new Scope;
foreach ($waits as $name => $case) {
    attempt("$name in another root", fn() => await($root->spawn($case)));
}
attempt('open still', fn() => [$global->isFinished(), $global->isClosed(), $global->isCancelled(), $global->isDisposed()]);
$global->onFinally(fn() => print("the last has ended\n"));
?>
--EXPECT--
cancel: Async\AsyncException: The global scope cannot be cancelled: use Async\gracefulShutdown()
cancel with a reason: Async\AsyncException: The global scope cannot be cancelled: use Async\gracefulShutdown()
dispose: Async\AsyncException: The global scope cannot be disposed of: use Async\gracefulShutdown()
disposeSafely: Async\AsyncException: The global scope cannot be disposed of: use Async\gracefulShutdown()
disposeAfterTimeout: Async\AsyncException: The global scope cannot be disposed of: use Async\gracefulShutdown()
setExceptionHandler: Async\AsyncException: The global scope takes no exception handler: use a Scope, or set_exception_handler()
setChildScopeExceptionHandler: Async\AsyncException: The global scope takes no exception handler: use a Scope, or set_exception_handler()
awaitCompletion: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at {main}
awaitAfterCancellation: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at {main}
awaitDirectChildren: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at {main}
await: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at {main}
awaitCompletion in another root: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at {main}
awaitAfterCancellation in another root: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at {main}
awaitDirectChildren in another root: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at {main}
await in another root: Async\AsyncException: Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at {main}
open still: [false,false,false,false]
the last has ended
