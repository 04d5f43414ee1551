/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 01bcbf1c58270153995f3d1a863b0d18dd458c64 */

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_Async_spawn, 0, 1, Async\\Coroutine, 0)
	ZEND_ARG_TYPE_INFO(0, task, IS_CALLABLE, 0)
	ZEND_ARG_VARIADIC_TYPE_INFO(0, args, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Async_group, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, block, IS_CALLABLE, 0)
	ZEND_ARG_VARIADIC_TYPE_INFO(0, args, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Async_withTimeout, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, milliseconds, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, block, IS_CALLABLE, 0)
	ZEND_ARG_VARIADIC_TYPE_INFO(0, args, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Async_await, 0, 1, IS_MIXED, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, awaitable, Async\\Awaitable|Async\\Scope, 0, NULL)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, cancellation, Async\\Awaitable, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Async_awaitChildren, 0, 0, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, cancellation, Async\\Awaitable, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Async_metrics, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_Async_currentScope, 0, 0, Async\\Scope, 0)
ZEND_END_ARG_INFO()

#define arginfo_Async_globalScope arginfo_Async_currentScope

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Async_suspend, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Async_delay, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, ms, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_Async_timeout, 0, 1, Async\\Timeout, 0)
	ZEND_ARG_TYPE_INFO(0, ms, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_Async_currentCoroutine, 0, 0, Async\\Coroutine, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_Async_localContext, 0, 0, Async\\Context, 0)
ZEND_END_ARG_INFO()

#define arginfo_Async_getCoroutines arginfo_Async_metrics

#define arginfo_Async_dump arginfo_Async_suspend

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Async_protect, 0, 1, IS_MIXED, 0)
	ZEND_ARG_OBJ_INFO(0, critical, Closure, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Async_onFinally, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, callback, Closure, 0)
ZEND_END_ARG_INFO()

#define arginfo_Async_onExit arginfo_Async_onFinally

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Async_gracefulShutdown, 0, 0, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, e, Throwable, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_Async_Syntax_call, 0, 1, Async\\Syntax\\Call, 1)
	ZEND_ARG_TYPE_INFO(0, callee, IS_MIXED, 0)
	ZEND_ARG_OBJ_INFO(0, of, Closure, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Async_Coroutine___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Coroutine_getId, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Coroutine_isStarted, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Coroutine_isQueued arginfo_class_Async_Coroutine_isStarted

#define arginfo_class_Async_Coroutine_isRunning arginfo_class_Async_Coroutine_isStarted

#define arginfo_class_Async_Coroutine_isSuspended arginfo_class_Async_Coroutine_isStarted

#define arginfo_class_Async_Coroutine_isCancelled arginfo_class_Async_Coroutine_isStarted

#define arginfo_class_Async_Coroutine_isCancellationRequested arginfo_class_Async_Coroutine_isStarted

#define arginfo_class_Async_Coroutine_isCompleted arginfo_class_Async_Coroutine_isStarted

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Coroutine_getResult, 0, 0, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Async_Coroutine_getException, 0, 0, Throwable, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Coroutine_getTrace, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_LONG, 0, "DEBUG_BACKTRACE_PROVIDE_OBJECT")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, limit, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Coroutine_getSpawnFileAndLine arginfo_Async_metrics

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Coroutine_getSpawnLocation, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Coroutine_getSuspendFileAndLine arginfo_Async_metrics

#define arginfo_class_Async_Coroutine_getSuspendLocation arginfo_class_Async_Coroutine_getSpawnLocation

#define arginfo_class_Async_Coroutine_getAwaitingInfo arginfo_Async_metrics

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Async_Coroutine_getParent, 0, 0, Async\\Coroutine, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Async_Coroutine_getScope, 0, 0, Async\\Scope, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Coroutine_cancel, 0, 0, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, cancellation, Async\\CancellationException, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Coroutine_getContext arginfo_Async_localContext

#define arginfo_class_Async_Coroutine_onFinally arginfo_Async_onFinally

#define arginfo_class_Async_Coroutine_onExit arginfo_Async_onFinally

#define arginfo_class_Async_Coroutine_finally arginfo_Async_onFinally

#define arginfo_class_Async_Context___construct arginfo_class_Async_Coroutine___construct

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Context_find, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_MASK(0, key, MAY_BE_STRING|MAY_BE_OBJECT, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Context_get arginfo_class_Async_Context_find

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Context_has, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_MASK(0, key, MAY_BE_STRING|MAY_BE_OBJECT, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Context_findLocal arginfo_class_Async_Context_find

#define arginfo_class_Async_Context_getLocal arginfo_class_Async_Context_find

#define arginfo_class_Async_Context_hasLocal arginfo_class_Async_Context_has

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Context_set, 0, 2, IS_STATIC, 0)
	ZEND_ARG_TYPE_MASK(0, key, MAY_BE_STRING|MAY_BE_OBJECT, NULL)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, replace, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Context_unset, 0, 1, IS_STATIC, 0)
	ZEND_ARG_TYPE_MASK(0, key, MAY_BE_STRING|MAY_BE_OBJECT, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Async_Key___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, description, IS_STRING, 0, "\'\'")
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Key___toString arginfo_class_Async_Coroutine_getSpawnLocation

#define arginfo_class_Async_Timeout___construct arginfo_class_Async_Coroutine___construct

#define arginfo_class_Async_Timeout_isCompleted arginfo_class_Async_Coroutine_isStarted

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Async_Scope___construct, 0, 0, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, lifetime, Async\\Lifetime, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Scope_inherit, 0, 0, IS_STATIC, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, parentScope, Async\\Scope, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Scope_spawn arginfo_Async_spawn

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Scope_awaitCompletion, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, cancellation, Async\\Awaitable, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Scope_awaitAfterCancellation, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, errorHandler, IS_CALLABLE, 1, "null")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, cancellation, Async\\Awaitable, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Scope_awaitDirectChildren arginfo_Async_suspend

#define arginfo_class_Async_Scope_cancel arginfo_class_Async_Coroutine_cancel

#define arginfo_class_Async_Scope_dispose arginfo_Async_suspend

#define arginfo_class_Async_Scope_disposeSafely arginfo_Async_suspend

#define arginfo_class_Async_Scope_disposeAfterTimeout arginfo_Async_delay

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_Scope_setExceptionHandler, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, handler, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_Scope_setChildScopeExceptionHandler arginfo_class_Async_Scope_setExceptionHandler

#define arginfo_class_Async_Scope_getErrors arginfo_Async_metrics

#define arginfo_class_Async_Scope_onFinally arginfo_Async_onFinally

#define arginfo_class_Async_Scope_onExit arginfo_Async_onFinally

#define arginfo_class_Async_Scope_finally arginfo_Async_onFinally

#define arginfo_class_Async_Scope_find arginfo_class_Async_Context_find

#define arginfo_class_Async_Scope_get arginfo_class_Async_Context_find

#define arginfo_class_Async_Scope_has arginfo_class_Async_Context_has

#define arginfo_class_Async_Scope_findLocal arginfo_class_Async_Context_find

#define arginfo_class_Async_Scope_getLocal arginfo_class_Async_Context_find

#define arginfo_class_Async_Scope_hasLocal arginfo_class_Async_Context_has

#define arginfo_class_Async_Scope_set arginfo_class_Async_Context_set

#define arginfo_class_Async_Scope_unset arginfo_class_Async_Context_unset

#define arginfo_class_Async_Scope_getParentScope arginfo_class_Async_Coroutine_getScope

#define arginfo_class_Async_Scope_getChildScopes arginfo_Async_metrics

#define arginfo_class_Async_Scope_getCoroutines arginfo_Async_metrics

#define arginfo_class_Async_Scope_isFinished arginfo_class_Async_Coroutine_isStarted

#define arginfo_class_Async_Scope_isClosed arginfo_class_Async_Coroutine_isStarted

#define arginfo_class_Async_Scope_isCancelled arginfo_class_Async_Coroutine_isStarted

#define arginfo_class_Async_Scope_isDisposed arginfo_class_Async_Coroutine_isStarted

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_BoundedScope_withTimeout, 0, 1, IS_STATIC, 0)
	ZEND_ARG_TYPE_INFO(0, milliseconds, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Async_BoundedScope_spawnAndBound, 0, 1, Async\\Coroutine, 0)
	ZEND_ARG_TYPE_INFO(0, coroutine, IS_CALLABLE, 0)
	ZEND_ARG_VARIADIC_TYPE_INFO(0, args, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_BoundedScope_boundedBy, 0, 1, IS_STATIC, 0)
	ZEND_ARG_TYPE_INFO(0, constraint, IS_MIXED, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_BoundedScope_getBoundsInfo arginfo_Async_metrics

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Async_CoroutineGroup___construct, 0, 0, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, scope, Async\\Scope, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Async_CoroutineGroup_spawn arginfo_Async_spawn

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Async_CoroutineGroup_add, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, coroutine, Async\\Coroutine, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Async_CoroutineGroup_cancel arginfo_class_Async_Coroutine_cancel

#define arginfo_class_Async_CoroutineGroup_dispose arginfo_Async_suspend

#define arginfo_class_Async_CoroutineGroup_getResults arginfo_Async_metrics

#define arginfo_class_Async_CoroutineGroup_getErrors arginfo_Async_metrics

#define arginfo_class_Async_Settled___construct arginfo_class_Async_Coroutine___construct

#define arginfo_class_Async_Settled_unwrap arginfo_class_Async_Coroutine_getResult

#define arginfo_class_Async_CompositeException_getExceptions arginfo_Async_metrics

#define arginfo_class_Async_Syntax_Call___construct arginfo_class_Async_Coroutine___construct

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Async_Syntax_Call___invoke, 0, 0, Async\\Coroutine, 0)
	ZEND_ARG_VARIADIC_TYPE_INFO(1, args, IS_MIXED, 0)
ZEND_END_ARG_INFO()


ZEND_FUNCTION(Async_spawn);
ZEND_FUNCTION(Async_group);
ZEND_FUNCTION(Async_withTimeout);
ZEND_FUNCTION(Async_await);
ZEND_FUNCTION(Async_awaitChildren);
ZEND_FUNCTION(Async_metrics);
ZEND_FUNCTION(Async_currentScope);
ZEND_FUNCTION(Async_globalScope);
ZEND_FUNCTION(Async_suspend);
ZEND_FUNCTION(Async_delay);
ZEND_FUNCTION(Async_timeout);
ZEND_FUNCTION(Async_currentCoroutine);
ZEND_FUNCTION(Async_localContext);
ZEND_FUNCTION(Async_getCoroutines);
ZEND_FUNCTION(Async_dump);
ZEND_FUNCTION(Async_protect);
ZEND_FUNCTION(Async_onFinally);
ZEND_FUNCTION(Async_onExit);
ZEND_FUNCTION(Async_gracefulShutdown);
ZEND_FUNCTION(Async_Syntax_call);
ZEND_METHOD(Async_Coroutine, __construct);
ZEND_METHOD(Async_Coroutine, getId);
ZEND_METHOD(Async_Coroutine, isStarted);
ZEND_METHOD(Async_Coroutine, isQueued);
ZEND_METHOD(Async_Coroutine, isRunning);
ZEND_METHOD(Async_Coroutine, isSuspended);
ZEND_METHOD(Async_Coroutine, isCancelled);
ZEND_METHOD(Async_Coroutine, isCancellationRequested);
ZEND_METHOD(Async_Coroutine, isCompleted);
ZEND_METHOD(Async_Coroutine, getResult);
ZEND_METHOD(Async_Coroutine, getException);
ZEND_METHOD(Async_Coroutine, getTrace);
ZEND_METHOD(Async_Coroutine, getSpawnFileAndLine);
ZEND_METHOD(Async_Coroutine, getSpawnLocation);
ZEND_METHOD(Async_Coroutine, getSuspendFileAndLine);
ZEND_METHOD(Async_Coroutine, getSuspendLocation);
ZEND_METHOD(Async_Coroutine, getAwaitingInfo);
ZEND_METHOD(Async_Coroutine, getParent);
ZEND_METHOD(Async_Coroutine, getScope);
ZEND_METHOD(Async_Coroutine, cancel);
ZEND_METHOD(Async_Coroutine, getContext);
ZEND_METHOD(Async_Coroutine, onFinally);
ZEND_METHOD(Async_Context, __construct);
ZEND_METHOD(Async_Context, find);
ZEND_METHOD(Async_Context, get);
ZEND_METHOD(Async_Context, has);
ZEND_METHOD(Async_Context, set);
ZEND_METHOD(Async_Context, unset);
ZEND_METHOD(Async_Key, __construct);
ZEND_METHOD(Async_Key, __toString);
ZEND_METHOD(Async_Timeout, __construct);
ZEND_METHOD(Async_Timeout, isCompleted);
ZEND_METHOD(Async_Scope, __construct);
ZEND_METHOD(Async_Scope, inherit);
ZEND_METHOD(Async_Scope, spawn);
ZEND_METHOD(Async_Scope, awaitCompletion);
ZEND_METHOD(Async_Scope, awaitAfterCancellation);
ZEND_METHOD(Async_Scope, awaitDirectChildren);
ZEND_METHOD(Async_Scope, cancel);
ZEND_METHOD(Async_Scope, dispose);
ZEND_METHOD(Async_Scope, disposeSafely);
ZEND_METHOD(Async_Scope, disposeAfterTimeout);
ZEND_METHOD(Async_Scope, setExceptionHandler);
ZEND_METHOD(Async_Scope, setChildScopeExceptionHandler);
ZEND_METHOD(Async_Scope, getErrors);
ZEND_METHOD(Async_Scope, onFinally);
ZEND_METHOD(Async_Scope, find);
ZEND_METHOD(Async_Scope, get);
ZEND_METHOD(Async_Scope, has);
ZEND_METHOD(Async_Scope, findLocal);
ZEND_METHOD(Async_Scope, getLocal);
ZEND_METHOD(Async_Scope, hasLocal);
ZEND_METHOD(Async_Scope, set);
ZEND_METHOD(Async_Scope, unset);
ZEND_METHOD(Async_Scope, getParentScope);
ZEND_METHOD(Async_Scope, getChildScopes);
ZEND_METHOD(Async_Scope, getCoroutines);
ZEND_METHOD(Async_Scope, isFinished);
ZEND_METHOD(Async_Scope, isClosed);
ZEND_METHOD(Async_Scope, isCancelled);
ZEND_METHOD(Async_Scope, isDisposed);
ZEND_METHOD(Async_BoundedScope, withTimeout);
ZEND_METHOD(Async_BoundedScope, spawnAndBound);
ZEND_METHOD(Async_BoundedScope, boundedBy);
ZEND_METHOD(Async_BoundedScope, getBoundsInfo);
ZEND_METHOD(Async_CoroutineGroup, __construct);
ZEND_METHOD(Async_CoroutineGroup, spawn);
ZEND_METHOD(Async_CoroutineGroup, add);
ZEND_METHOD(Async_CoroutineGroup, cancel);
ZEND_METHOD(Async_CoroutineGroup, dispose);
ZEND_METHOD(Async_CoroutineGroup, getResults);
ZEND_METHOD(Async_CoroutineGroup, getErrors);
ZEND_METHOD(Async_Settled, __construct);
ZEND_METHOD(Async_Settled, unwrap);
ZEND_METHOD(Async_CompositeException, getExceptions);
ZEND_METHOD(Async_Syntax_Call, __construct);
ZEND_METHOD(Async_Syntax_Call, __invoke);


static const zend_function_entry ext_functions[] = {
	ZEND_NS_FALIAS("Async", spawn, Async_spawn, arginfo_Async_spawn)
	ZEND_NS_FALIAS("Async", group, Async_group, arginfo_Async_group)
	ZEND_NS_FALIAS("Async", withTimeout, Async_withTimeout, arginfo_Async_withTimeout)
	ZEND_NS_FALIAS("Async", await, Async_await, arginfo_Async_await)
	ZEND_NS_FALIAS("Async", awaitChildren, Async_awaitChildren, arginfo_Async_awaitChildren)
	ZEND_NS_FALIAS("Async", metrics, Async_metrics, arginfo_Async_metrics)
	ZEND_NS_FALIAS("Async", currentScope, Async_currentScope, arginfo_Async_currentScope)
	ZEND_NS_FALIAS("Async", globalScope, Async_globalScope, arginfo_Async_globalScope)
	ZEND_NS_FALIAS("Async", suspend, Async_suspend, arginfo_Async_suspend)
	ZEND_NS_FALIAS("Async", delay, Async_delay, arginfo_Async_delay)
	ZEND_NS_FALIAS("Async", timeout, Async_timeout, arginfo_Async_timeout)
	ZEND_NS_FALIAS("Async", currentCoroutine, Async_currentCoroutine, arginfo_Async_currentCoroutine)
	ZEND_NS_FALIAS("Async", localContext, Async_localContext, arginfo_Async_localContext)
	ZEND_NS_FALIAS("Async", getCoroutines, Async_getCoroutines, arginfo_Async_getCoroutines)
	ZEND_NS_FALIAS("Async", dump, Async_dump, arginfo_Async_dump)
	ZEND_NS_FALIAS("Async", protect, Async_protect, arginfo_Async_protect)
	ZEND_NS_FALIAS("Async", onFinally, Async_onFinally, arginfo_Async_onFinally)
	ZEND_NS_FALIAS("Async", onExit, Async_onExit, arginfo_Async_onExit)
	ZEND_NS_FALIAS("Async", gracefulShutdown, Async_gracefulShutdown, arginfo_Async_gracefulShutdown)
	ZEND_NS_FALIAS("Async\\Syntax", call, Async_Syntax_call, arginfo_Async_Syntax_call)
	ZEND_FE_END
};


static const zend_function_entry class_Async_Awaitable_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Async_Lifetime_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Async_Coroutine_methods[] = {
	ZEND_ME(Async_Coroutine, __construct, arginfo_class_Async_Coroutine___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Async_Coroutine, getId, arginfo_class_Async_Coroutine_getId, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, isStarted, arginfo_class_Async_Coroutine_isStarted, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, isQueued, arginfo_class_Async_Coroutine_isQueued, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, isRunning, arginfo_class_Async_Coroutine_isRunning, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, isSuspended, arginfo_class_Async_Coroutine_isSuspended, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, isCancelled, arginfo_class_Async_Coroutine_isCancelled, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, isCancellationRequested, arginfo_class_Async_Coroutine_isCancellationRequested, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, isCompleted, arginfo_class_Async_Coroutine_isCompleted, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, getResult, arginfo_class_Async_Coroutine_getResult, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, getException, arginfo_class_Async_Coroutine_getException, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, getTrace, arginfo_class_Async_Coroutine_getTrace, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, getSpawnFileAndLine, arginfo_class_Async_Coroutine_getSpawnFileAndLine, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, getSpawnLocation, arginfo_class_Async_Coroutine_getSpawnLocation, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, getSuspendFileAndLine, arginfo_class_Async_Coroutine_getSuspendFileAndLine, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, getSuspendLocation, arginfo_class_Async_Coroutine_getSuspendLocation, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, getAwaitingInfo, arginfo_class_Async_Coroutine_getAwaitingInfo, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, getParent, arginfo_class_Async_Coroutine_getParent, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, getScope, arginfo_class_Async_Coroutine_getScope, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, cancel, arginfo_class_Async_Coroutine_cancel, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, getContext, arginfo_class_Async_Coroutine_getContext, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Coroutine, onFinally, arginfo_class_Async_Coroutine_onFinally, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Async_Coroutine, onExit, onFinally, arginfo_class_Async_Coroutine_onExit, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Async_Coroutine, finally, onFinally, arginfo_class_Async_Coroutine_finally, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_Context_methods[] = {
	ZEND_ME(Async_Context, __construct, arginfo_class_Async_Context___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Async_Context, find, arginfo_class_Async_Context_find, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Context, get, arginfo_class_Async_Context_get, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Context, has, arginfo_class_Async_Context_has, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Async_Context, findLocal, find, arginfo_class_Async_Context_findLocal, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Async_Context, getLocal, get, arginfo_class_Async_Context_getLocal, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Async_Context, hasLocal, has, arginfo_class_Async_Context_hasLocal, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Context, set, arginfo_class_Async_Context_set, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Context, unset, arginfo_class_Async_Context_unset, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_Key_methods[] = {
	ZEND_ME(Async_Key, __construct, arginfo_class_Async_Key___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Key, __toString, arginfo_class_Async_Key___toString, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_Timeout_methods[] = {
	ZEND_ME(Async_Timeout, __construct, arginfo_class_Async_Timeout___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Async_Timeout, isCompleted, arginfo_class_Async_Timeout_isCompleted, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_Scope_methods[] = {
	ZEND_ME(Async_Scope, __construct, arginfo_class_Async_Scope___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, inherit, arginfo_class_Async_Scope_inherit, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Async_Scope, spawn, arginfo_class_Async_Scope_spawn, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, awaitCompletion, arginfo_class_Async_Scope_awaitCompletion, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, awaitAfterCancellation, arginfo_class_Async_Scope_awaitAfterCancellation, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, awaitDirectChildren, arginfo_class_Async_Scope_awaitDirectChildren, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, cancel, arginfo_class_Async_Scope_cancel, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, dispose, arginfo_class_Async_Scope_dispose, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, disposeSafely, arginfo_class_Async_Scope_disposeSafely, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, disposeAfterTimeout, arginfo_class_Async_Scope_disposeAfterTimeout, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, setExceptionHandler, arginfo_class_Async_Scope_setExceptionHandler, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, setChildScopeExceptionHandler, arginfo_class_Async_Scope_setChildScopeExceptionHandler, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, getErrors, arginfo_class_Async_Scope_getErrors, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, onFinally, arginfo_class_Async_Scope_onFinally, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Async_Scope, onExit, onFinally, arginfo_class_Async_Scope_onExit, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(Async_Scope, finally, onFinally, arginfo_class_Async_Scope_finally, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, find, arginfo_class_Async_Scope_find, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, get, arginfo_class_Async_Scope_get, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, has, arginfo_class_Async_Scope_has, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, findLocal, arginfo_class_Async_Scope_findLocal, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, getLocal, arginfo_class_Async_Scope_getLocal, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, hasLocal, arginfo_class_Async_Scope_hasLocal, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, set, arginfo_class_Async_Scope_set, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, unset, arginfo_class_Async_Scope_unset, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, getParentScope, arginfo_class_Async_Scope_getParentScope, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, getChildScopes, arginfo_class_Async_Scope_getChildScopes, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, getCoroutines, arginfo_class_Async_Scope_getCoroutines, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, isFinished, arginfo_class_Async_Scope_isFinished, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, isClosed, arginfo_class_Async_Scope_isClosed, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, isCancelled, arginfo_class_Async_Scope_isCancelled, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_Scope, isDisposed, arginfo_class_Async_Scope_isDisposed, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_BoundedScope_methods[] = {
	ZEND_ME(Async_BoundedScope, withTimeout, arginfo_class_Async_BoundedScope_withTimeout, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_BoundedScope, spawnAndBound, arginfo_class_Async_BoundedScope_spawnAndBound, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_BoundedScope, boundedBy, arginfo_class_Async_BoundedScope_boundedBy, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_BoundedScope, getBoundsInfo, arginfo_class_Async_BoundedScope_getBoundsInfo, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_CoroutineGroup_methods[] = {
	ZEND_ME(Async_CoroutineGroup, __construct, arginfo_class_Async_CoroutineGroup___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_CoroutineGroup, spawn, arginfo_class_Async_CoroutineGroup_spawn, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_CoroutineGroup, add, arginfo_class_Async_CoroutineGroup_add, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_CoroutineGroup, cancel, arginfo_class_Async_CoroutineGroup_cancel, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_CoroutineGroup, dispose, arginfo_class_Async_CoroutineGroup_dispose, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_CoroutineGroup, getResults, arginfo_class_Async_CoroutineGroup_getResults, ZEND_ACC_PUBLIC)
	ZEND_ME(Async_CoroutineGroup, getErrors, arginfo_class_Async_CoroutineGroup_getErrors, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_Settled_methods[] = {
	ZEND_ME(Async_Settled, __construct, arginfo_class_Async_Settled___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Async_Settled, unwrap, arginfo_class_Async_Settled_unwrap, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_AsyncException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Async_AwaitCancelledException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Async_TimeoutException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Async_ContextException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Async_ChannelException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Async_CancellationException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Async_CompositeException_methods[] = {
	ZEND_ME(Async_CompositeException, getExceptions, arginfo_class_Async_CompositeException_getExceptions, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Async_DeadlockError_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Async_Syntax_Call_methods[] = {
	ZEND_ME(Async_Syntax_Call, __construct, arginfo_class_Async_Syntax_Call___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Async_Syntax_Call, __invoke, arginfo_class_Async_Syntax_Call___invoke, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Async_Awaitable(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "Awaitable", class_Async_Awaitable_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Async_Lifetime(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Async\\Lifetime", IS_UNDEF, class_Async_Lifetime_methods);

	zend_enum_add_case_cstr(class_entry, "Scope", NULL);

	zend_enum_add_case_cstr(class_entry, "TopDown", NULL);

	zend_enum_add_case_cstr(class_entry, "BottomUp", NULL);

	return class_entry;
}

static zend_class_entry *register_class_Async_Coroutine(zend_class_entry *class_entry_Async_Awaitable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "Coroutine", class_Async_Coroutine_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;
	zend_class_implements(class_entry, 1, class_entry_Async_Awaitable);

	return class_entry;
}

static zend_class_entry *register_class_Async_Context(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "Context", class_Async_Context_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;

	return class_entry;
}

static zend_class_entry *register_class_Async_Key(zend_class_entry *class_entry_Stringable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "Key", class_Async_Key_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_READONLY_CLASS;
	zend_class_implements(class_entry, 1, class_entry_Stringable);

	zval property_description_default_value;
	ZVAL_UNDEF(&property_description_default_value);
	zend_string *property_description_name = zend_string_init_interned("description", sizeof("description") - 1, 1);
	zend_declare_typed_property(class_entry, property_description_name, &property_description_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));

	return class_entry;
}

static zend_class_entry *register_class_Async_Timeout(zend_class_entry *class_entry_Async_Awaitable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "Timeout", class_Async_Timeout_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;
	zend_class_implements(class_entry, 1, class_entry_Async_Awaitable);

	return class_entry;
}

static zend_class_entry *register_class_Async_Scope(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "Scope", class_Async_Scope_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);

	return class_entry;
}

static zend_class_entry *register_class_Async_BoundedScope(zend_class_entry *class_entry_Async_Scope, zend_class_entry *class_entry_Async_Awaitable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "BoundedScope", class_Async_BoundedScope_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Async_Scope);
	zend_class_implements(class_entry, 1, class_entry_Async_Awaitable);

	return class_entry;
}

static zend_class_entry *register_class_Async_CoroutineGroup(zend_class_entry *class_entry_Async_Awaitable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "CoroutineGroup", class_Async_CoroutineGroup_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;
	zend_class_implements(class_entry, 1, class_entry_Async_Awaitable);

	return class_entry;
}

static zend_class_entry *register_class_Async_Settled(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "Settled", class_Async_Settled_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_READONLY_CLASS;

	zval property_ok_default_value;
	ZVAL_UNDEF(&property_ok_default_value);
	zend_string *property_ok_name = zend_string_init_interned("ok", sizeof("ok") - 1, 1);
	zend_declare_typed_property(class_entry, property_ok_name, &property_ok_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));

	zval property_value_default_value;
	ZVAL_UNDEF(&property_value_default_value);
	zend_string *property_value_name = zend_string_init_interned("value", sizeof("value") - 1, 1);
	zend_declare_typed_property(class_entry, property_value_name, &property_value_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ANY));

	zend_string *property_error_class_Throwable = zend_string_init_interned("Throwable", sizeof("Throwable")-1, 1);
	zval property_error_default_value;
	ZVAL_UNDEF(&property_error_default_value);
	zend_string *property_error_name = zend_string_init_interned("error", sizeof("error") - 1, 1);
	zend_declare_typed_property(class_entry, property_error_name, &property_error_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_error_class_Throwable, 0, MAY_BE_NULL));

	return class_entry;
}

static zend_class_entry *register_class_Async_AsyncException(zend_class_entry *class_entry_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "AsyncException", class_Async_AsyncException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Async_AwaitCancelledException(zend_class_entry *class_entry_Async_AsyncException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "AwaitCancelledException", class_Async_AwaitCancelledException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Async_AsyncException);

	return class_entry;
}

static zend_class_entry *register_class_Async_TimeoutException(zend_class_entry *class_entry_Async_AwaitCancelledException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "TimeoutException", class_Async_TimeoutException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Async_AwaitCancelledException);

	return class_entry;
}

static zend_class_entry *register_class_Async_ContextException(zend_class_entry *class_entry_Async_AsyncException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "ContextException", class_Async_ContextException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Async_AsyncException);

	return class_entry;
}

static zend_class_entry *register_class_Async_ChannelException(zend_class_entry *class_entry_Async_AsyncException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "ChannelException", class_Async_ChannelException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Async_AsyncException);

	return class_entry;
}

static zend_class_entry *register_class_Async_CancellationException(zend_class_entry *class_entry_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "CancellationException", class_Async_CancellationException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Async_CompositeException(zend_class_entry *class_entry_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "CompositeException", class_Async_CompositeException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Exception);
	class_entry->ce_flags |= ZEND_ACC_FINAL;

	zval property_exceptions_default_value;
	ZVAL_EMPTY_ARRAY(&property_exceptions_default_value);
	zend_string *property_exceptions_name = zend_string_init_interned("exceptions", sizeof("exceptions") - 1, 1);
	zend_declare_typed_property(class_entry, property_exceptions_name, &property_exceptions_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));

	return class_entry;
}

static zend_class_entry *register_class_Async_DeadlockError(zend_class_entry *class_entry_Error)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async", "DeadlockError", class_Async_DeadlockError_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Error);

	return class_entry;
}

static zend_class_entry *register_class_Async_Syntax_Call(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Async\\Syntax", "Call", class_Async_Syntax_Call_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;

	return class_entry;
}
