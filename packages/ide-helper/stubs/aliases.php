<?php

// Made by scripts/gen-api from stubs/aliases.stub.php. Not to be loaded: the extension has these.

/** Other names of classes. */
namespace {
    /** The name in True Async's second proposal. */
    class_alias(Async\CancellationException::class, 'Async\CancellationError');
    /** The name in the True Async extension. */
    class_alias(Async\CancellationException::class, 'Async\AsyncCancellation');
    /** The name in the True Async extension, where it is a cancellation. */
    class_alias(Async\AwaitCancelledException::class, 'Async\OperationCanceledException');
    /** The name in the True Async extension, which has more methods. */
    class_alias(Async\Awaitable::class, 'Async\Completable');
    /** The name in the True Async extension, whose class has more methods: see docs/upstream.md. */
    class_alias(Async\CoroutineGroup::class, 'Async\TaskGroup');
}
