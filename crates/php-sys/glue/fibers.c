/* The Fibers draft beside PHP's Fiber: its classes, and its methods on PHP's class. A Fiber made by Fiber::create(), or by
 * Fiber::suspend() with two arguments, has its own handlers, by which the methods tell it from PHP's. Its behaviour is decided
 * in Rust (crates/php/src/fibers). */
#include "glue.h"

#include "zend_builtin_functions.h"
#include "zend_closures.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

static zend_object_handlers handlers;
static const zend_object_handlers *original_handlers;

static struct {
	zif_handler construct, start, resume, throw_, suspend, get_current, is_started, is_suspended, is_running, is_terminated, get_return;
	zif_handler get_trace, get_line, get_file, get_callable;
} originals;

zend_class_entry *spindle_fiber_scheduler, *spindle_fiber_exit, *spindle_fiber_error;
static zend_class_entry *reflection_fiber, *reflection_scheduler;

static bool is_draft(const zend_object *object)
{
	return object->handlers == &handlers;
}

static void destroy(zend_object *object)
{
	spindle_draft_destroyed(object);
}

static void release(zend_object *object)
{
	spindle_draft_freed(object);
	original_handlers->free_obj(object);
}

/* Returns a new Fiber of the draft. `callable`: what it will call, or NULL for one that runs already. */
zend_object *spindle_draft_make(zval *callable)
{
	zval object;

	object_init_ex(&object, zend_ce_fiber);
	zend_fiber *fiber = (zend_fiber *) Z_OBJ(object);
	if (!original_handlers) {
		original_handlers = fiber->std.handlers;
		memcpy(&handlers, original_handlers, sizeof handlers);
		handlers.dtor_obj = destroy;
		handlers.free_obj = release;
	}
	fiber->std.handlers = &handlers;
	if (callable) {
		zend_fcall_info_cache call;
		/* Both are values that the engine's collector sees and the engine's own handler releases. */
		ZVAL_COPY(&fiber->fci.function_name, callable);
		ZVAL_COPY(&fiber->result, callable);
		if (zend_is_callable_ex(callable, NULL, 0, NULL, &call, NULL)) {
			if (call.function_handler->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE) {
				zend_release_fcall_info_cache(&call);
			} else if (Z_TYPE_P(callable) != IS_OBJECT) {
				zval bound, closure;
				if (call.object) {
					ZVAL_OBJ(&bound, call.object);
				}
				/* It may be visible here and not where the fiber starts. */
				zend_create_fake_closure(&closure, call.function_handler, call.function_handler->common.scope,
					call.called_scope, call.object ? &bound : NULL);
				zval_ptr_dtor(&fiber->result);
				ZVAL_COPY_VALUE(&fiber->result, &closure);
			}
		}
	}
	return &fiber->std;
}

/* Returns the callable of a Fiber of the draft. */
zval *spindle_draft_callable(zend_object *object)
{
	return &((zend_fiber *) object)->result;
}

#define DISPATCH(name, native, draft) \
	static ZEND_NAMED_FUNCTION(name) \
	{ \
		if (is_draft(Z_OBJ_P(ZEND_THIS))) { \
			draft; \
		} else { \
			originals.native(INTERNAL_FUNCTION_PARAM_PASSTHRU); \
		} \
	}

#define IS(test) \
	ZEND_PARSE_PARAMETERS_NONE(); \
	uint32_t status = spindle_draft_status(Z_OBJ_P(ZEND_THIS)); \
	RETURN_BOOL(test)

static ZEND_NAMED_FUNCTION(construct)
{
	if (is_draft(Z_OBJ_P(ZEND_THIS))) {
		zend_throw_error(NULL, "Cannot call constructor twice");
	} else if (spindle_fiber_may_begin()) {
		originals.construct(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	}
}

/* Returns true if no call is in progress in the running code, and nothing is to be done after one. */
static zend_always_inline bool is_undisturbed(void)
{
	return EXPECTED(!((uintptr_t) spindle_calls | spindle_check_after)); /* in one test */
}

/* The methods that switch have no trampoline in front of them: they do its work themselves. The calls of a suspended fiber are
 * removed from the list of the running code, because another coroutine may resume it. The handles of these calls stay locked
 * until they return. A Fiber of the draft is a coroutine, with a list of its own.
 *
 * With an empty list the macro jumps to PHP's method: the processor mispredicts each return on a stack other than the call's, and
 * each costs more than everything else here. A cancellation that a call in the fiber has met is thrown by that call. */
#define SWITCH(name, native, draft) \
	static zend_never_inline void name##_otherwise(INTERNAL_FUNCTION_PARAMETERS) \
	{ \
		if (is_draft(Z_OBJ_P(ZEND_THIS))) { \
			draft(execute_data, return_value); \
		} else { \
			spindle_call *calls = spindle_calls; \
			originals.native(INTERNAL_FUNCTION_PARAM_PASSTHRU); \
			spindle_calls = calls; \
		} \
		if (UNEXPECTED(spindle_check_after)) { \
			spindle_after_call(execute_data); \
		} \
	} \
	static ZEND_NAMED_FUNCTION(name) \
	{ \
		if (is_undisturbed() && EXPECTED(!is_draft(Z_OBJ_P(ZEND_THIS)))) { \
			originals.native(INTERNAL_FUNCTION_PARAM_PASSTHRU); \
		} else { \
			name##_otherwise(INTERNAL_FUNCTION_PARAM_PASSTHRU); \
		} \
	}

static bool can_suspend(void)
{
	zend_fiber *fiber = EG(active_fiber);
	return fiber && !zend_fiber_switch_blocked() && !(fiber->flags & ZEND_FIBER_FLAG_DESTROYED);
}

static zend_never_inline void suspend_otherwise(INTERNAL_FUNCTION_PARAMETERS)
{
	if (ZEND_NUM_ARGS() >= 2) {
		spindle_draft_suspend(execute_data, return_value);
	} else if (!EG(active_fiber) && spindle_has_identity(execute_data)) {
		spindle_identity_suspend(execute_data, return_value);
	} else {
		if (spindle_calls) {
			spindle_fiber_suspends();
			if (can_suspend()) {
				spindle_calls = NULL; /* code that resumed it with another list restores that list */
			}
		}
		originals.suspend(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	}
	if (UNEXPECTED(spindle_check_after)) {
		spindle_after_call(execute_data);
	}
}

static ZEND_NAMED_FUNCTION(suspend)
{
	if (is_undisturbed() && EXPECTED(ZEND_NUM_ARGS() < 2 && EG(active_fiber))) {
		originals.suspend(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	} else {
		suspend_otherwise(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	}
}

/* In a coroutine, the code that async.fiber_identity names gets a Fiber that stands for the coroutine. */
static ZEND_NAMED_FUNCTION(get_current)
{
	if (EXPECTED(EG(active_fiber))) {
		originals.get_current(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	} else {
		spindle_identity(execute_data, return_value);
	}
}

SWITCH(start, start, spindle_draft_start)
SWITCH(resume, resume, spindle_draft_resume)
SWITCH(throw_into, throw_, spindle_draft_throw)
DISPATCH(is_started, is_started, IS(status != SPINDLE_DRAFT_INIT))
DISPATCH(is_suspended, is_suspended, IS(status == SPINDLE_DRAFT_SUSPENDED))
DISPATCH(is_running, is_running, IS(status == SPINDLE_DRAFT_RUNNING))
DISPATCH(is_terminated, is_terminated, IS(status == SPINDLE_DRAFT_ENDED))
DISPATCH(get_return, get_return,
	zend_throw_error(spindle_fiber_error, spindle_draft_is_coroutine(Z_OBJ_P(ZEND_THIS))
		? "Cannot get fiber return value: That of a coroutine is what Async\\await() returns"
		: "Cannot get fiber return value: A fiber of a scheduler returns none"))

/* Puts the Fiber of a ReflectionFiber into `fiber`. */
static bool reflected(zval *this, zval *fiber)
{
	ZVAL_UNDEF(fiber);
	zend_call_method_with_0_params(Z_OBJ_P(this), Z_OBJCE_P(this), NULL, "getfiber", fiber);
	return Z_TYPE_P(fiber) == IS_OBJECT;
}

/* Returns the frame that a Fiber of the draft executes; NULL, with an exception, if there is none. */
static zend_execute_data *frame_of(zend_object *fiber)
{
	zend_execute_data *frame = spindle_draft_frame(fiber);
	if (!frame && !EG(exception)) {
		zend_throw_error(NULL, "Cannot fetch information from a fiber that has not been started or is terminated");
	}
	return frame;
}

#define REFLECT(name, native, draft) \
	static ZEND_NAMED_FUNCTION(name) \
	{ \
		zval fiber; \
		if (!reflected(ZEND_THIS, &fiber)) { \
			return; \
		} \
		if (is_draft(Z_OBJ(fiber))) { \
			draft; \
		} else { \
			originals.native(INTERNAL_FUNCTION_PARAM_PASSTHRU); \
		} \
		zval_ptr_dtor(&fiber); \
	}

static void get_draft_trace(INTERNAL_FUNCTION_PARAMETERS, zend_object *fiber)
{
	zend_long options = DEBUG_BACKTRACE_PROVIDE_OBJECT;
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(options)
	ZEND_PARSE_PARAMETERS_END();
	zend_execute_data *frame = frame_of(fiber);
	if (frame) {
		zend_execute_data *running = EG(current_execute_data);
		EG(current_execute_data) = frame;
		zend_fetch_debug_backtrace(return_value, 0, (int) options, 0);
		EG(current_execute_data) = running;
	}
}

static void get_draft_place(INTERNAL_FUNCTION_PARAMETERS, zend_object *fiber, bool wants_line)
{
	ZEND_PARSE_PARAMETERS_NONE();
	zend_execute_data *frame = frame_of(fiber);
	while (frame && (!frame->func || !ZEND_USER_CODE(frame->func->type))) {
		frame = frame->prev_execute_data;
	}
	if (frame && wants_line) {
		RETURN_LONG(frame->opline->lineno);
	} else if (frame) {
		RETURN_STR_COPY(frame->func->op_array.filename);
	}
}

static void get_draft_callable(INTERNAL_FUNCTION_PARAMETERS, zend_object *object)
{
	zend_fiber *fiber = (zend_fiber *) object;
	ZEND_PARSE_PARAMETERS_NONE();
	if (Z_ISUNDEF(fiber->fci.function_name) || spindle_draft_status(object) == SPINDLE_DRAFT_ENDED) {
		zend_throw_error(NULL, spindle_draft_is_coroutine(object) ? "Cannot fetch the callable of a coroutine"
			: "Cannot fetch the callable from a fiber that has terminated");
		return;
	}
	RETURN_COPY(&fiber->fci.function_name);
}

REFLECT(get_trace, get_trace, get_draft_trace(INTERNAL_FUNCTION_PARAM_PASSTHRU, Z_OBJ(fiber)))
REFLECT(get_line, get_line, get_draft_place(INTERNAL_FUNCTION_PARAM_PASSTHRU, Z_OBJ(fiber), true))
REFLECT(get_file, get_file, get_draft_place(INTERNAL_FUNCTION_PARAM_PASSTHRU, Z_OBJ(fiber), false))
REFLECT(get_callable, get_callable, get_draft_callable(INTERNAL_FUNCTION_PARAM_PASSTHRU, Z_OBJ(fiber)))

static uint32_t status_of(zend_object *object)
{
	if (is_draft(object)) {
		return spindle_draft_status(object);
	}
	switch (((zend_fiber *) object)->context.status) {
		case ZEND_FIBER_STATUS_INIT:
			return SPINDLE_DRAFT_INIT;
		case ZEND_FIBER_STATUS_SUSPENDED:
			/* One that has resumed another is marked as suspended, too. */
			return ((zend_fiber *) object)->caller ? SPINDLE_DRAFT_RUNNING : SPINDLE_DRAFT_SUSPENDED;
		case ZEND_FIBER_STATUS_DEAD:
			return SPINDLE_DRAFT_ENDED;
		default:
			return SPINDLE_DRAFT_RUNNING;
	}
}

#define REFLECTED_STATUS(name, wanted) \
	static ZEND_NAMED_FUNCTION(name) \
	{ \
		zval fiber; \
		ZEND_PARSE_PARAMETERS_NONE(); \
		if (reflected(ZEND_THIS, &fiber)) { \
			RETVAL_BOOL(status_of(Z_OBJ(fiber)) == wanted); \
			zval_ptr_dtor(&fiber); \
		} \
	}

REFLECTED_STATUS(reflects_suspended, SPINDLE_DRAFT_SUSPENDED)
REFLECTED_STATUS(reflects_running, SPINDLE_DRAFT_RUNNING)
REFLECTED_STATUS(reflects_terminated, SPINDLE_DRAFT_ENDED)

static ZEND_NAMED_FUNCTION(reflect_scheduler)
{
	zval *scheduler, fiber;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_OBJECT_OF_CLASS(scheduler, spindle_fiber_scheduler)
	ZEND_PARSE_PARAMETERS_END();
	zend_object *found = spindle_draft_of_scheduler(Z_OBJ_P(scheduler));
	if (!found) {
		if (!EG(exception)) {
			zend_class_entry *error = zend_hash_str_find_ptr(CG(class_table), ZEND_STRL("reflectionexception"));
			zend_throw_exception(error, "The FiberScheduler has not been used to suspend a fiber", 0);
		}
		return;
	}
	ZVAL_OBJ(&fiber, found);
	zend_call_known_instance_method_with_1_params(
		reflection_fiber->constructor, Z_OBJ_P(ZEND_THIS), NULL, &fiber);
	zval_ptr_dtor(&fiber);
}

static ZEND_NAMED_FUNCTION(get_scheduler)
{
	zval fiber;
	ZEND_PARSE_PARAMETERS_NONE();
	if (reflected(ZEND_THIS, &fiber)) {
		zend_object *scheduler = spindle_draft_scheduler_of(Z_OBJ(fiber));
		zval_ptr_dtor(&fiber);
		if (scheduler) {
			RETURN_OBJ(scheduler);
		}
		zend_throw_error(NULL, "Cannot fetch the scheduler of a fiber that has ended");
	}
}

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(create_info, 0, 1, Fiber, 0)
	ZEND_ARG_TYPE_INFO(0, callback, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(run_info, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(bool_info, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(reflect_info, 0, 0, 1)
	ZEND_ARG_OBJ_INFO(0, scheduler, FiberScheduler, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(scheduler_info, 0, 0, FiberScheduler, 0)
ZEND_END_ARG_INFO()

static const zend_function_entry fiber_methods[] = {
	ZEND_FENTRY(create, spindle_draft_create, create_info, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
	ZEND_FE_END
};

static const zend_function_entry scheduler_methods[] = {
	ZEND_FENTRY(run, NULL, run_info, ZEND_ACC_PUBLIC | ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};

static const zend_function_entry reflection_methods[] = {
	ZEND_FENTRY(isSuspended, reflects_suspended, bool_info, ZEND_ACC_PUBLIC)
	ZEND_FENTRY(isRunning, reflects_running, bool_info, ZEND_ACC_PUBLIC)
	ZEND_FENTRY(isTerminated, reflects_terminated, bool_info, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static const zend_function_entry reflection_scheduler_methods[] = {
	ZEND_FENTRY(__construct, reflect_scheduler, reflect_info, ZEND_ACC_PUBLIC)
	ZEND_FENTRY(getFiberScheduler, get_scheduler, scheduler_info, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static void replace(zend_class_entry *class, const char *name, zif_handler *original, zif_handler by)
{
	zend_function *function = zend_hash_str_find_ptr(&class->function_table, name, strlen(name));
	ZEND_ASSERT(function);
	*original = function->internal_function.handler;
	function->internal_function.handler = by;
}

/* At module start, after the engine's own classes. */
void spindle_register_fibers(void)
{
	zend_class_entry ce;

	INIT_CLASS_ENTRY(ce, "FiberScheduler", scheduler_methods);
	spindle_fiber_scheduler = zend_register_internal_interface(&ce);
	INIT_CLASS_ENTRY(ce, "FiberExit", NULL);
	spindle_fiber_exit = zend_register_internal_class_ex(&ce, zend_ce_exception);
	spindle_fiber_exit->ce_flags |= ZEND_ACC_FINAL;

	spindle_fiber_error = zend_hash_str_find_ptr(CG(class_table), ZEND_STRL("fibererror"));
	zend_class_entry *fiber = zend_ce_fiber;
	zend_register_functions(fiber, fiber_methods, &fiber->function_table, MODULE_PERSISTENT);
	replace(fiber, "__construct", &originals.construct, construct);
	replace(fiber, "start", &originals.start, start);
	replace(fiber, "resume", &originals.resume, resume);
	replace(fiber, "throw", &originals.throw_, throw_into);
	replace(fiber, "suspend", &originals.suspend, suspend);
	replace(fiber, "getcurrent", &originals.get_current, get_current);
	replace(fiber, "isstarted", &originals.is_started, is_started);
	replace(fiber, "issuspended", &originals.is_suspended, is_suspended);
	replace(fiber, "isrunning", &originals.is_running, is_running);
	replace(fiber, "isterminated", &originals.is_terminated, is_terminated);
	replace(fiber, "getreturn", &originals.get_return, get_return);

	reflection_fiber = zend_hash_str_find_ptr(CG(class_table), ZEND_STRL("reflectionfiber"));
	if (!reflection_fiber) {
		return;
	}
	zend_register_functions(
		reflection_fiber, reflection_methods, &reflection_fiber->function_table, MODULE_PERSISTENT);
	replace(reflection_fiber, "gettrace", &originals.get_trace, get_trace);
	replace(reflection_fiber, "getexecutingline", &originals.get_line, get_line);
	replace(reflection_fiber, "getexecutingfile", &originals.get_file, get_file);
	replace(reflection_fiber, "getcallable", &originals.get_callable, get_callable);
	INIT_CLASS_ENTRY(ce, "ReflectionFiberScheduler", reflection_scheduler_methods);
	/* It is final for user code only. */
	uint32_t final = reflection_fiber->ce_flags & ZEND_ACC_FINAL;
	reflection_fiber->ce_flags &= ~ZEND_ACC_FINAL;
	reflection_scheduler = zend_register_internal_class_ex(&ce, reflection_fiber);
	reflection_fiber->ce_flags |= final;
	reflection_scheduler->ce_flags |= ZEND_ACC_FINAL | ZEND_ACC_NOT_SERIALIZABLE;
}

/* Leaves a fiber that is being destroyed: runs its `finally` blocks. */
void spindle_throw_graceful_exit(void)
{
	zend_throw_exception_internal(zend_create_graceful_exit());
}
