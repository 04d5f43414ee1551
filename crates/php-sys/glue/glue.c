/* Code that has to be C: setjmp frames, the engine's macros, and the tables that they define. No policy here. */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE /* dlinfo */
#endif
#include <dlfcn.h>
#include <link.h>
#ifdef HAVE_CONFIG_H
# include "config.h"
#endif
#include "php.h"
#include "php_ini.h"
#include "ext/standard/info.h"
#include "main/php_output.h"
#include "zend_builtin_functions.h"
#include "zend_closures.h"
#include "zend_enum.h"
#include "zend_exceptions.h"
#include "zend_extensions.h"
#include "zend_generators.h"
#include "zend_interfaces.h"
#include "zend_observer.h"
#include "zend_signal.h"
#include "zend_smart_str.h"
#include "zend_system_id.h"
#include "zend_weakrefs.h"
#include "zend_attributes.h"
#include "glue.h"
#include "spindle_arginfo.h"

int spindle_reserved_slot = -1;
uint32_t spindle_check_before = 0;
uint32_t spindle_check_after = 0;
uint32_t spindle_calls_without_park = 0;
spindle_ini spindle_settings;
spindle_classes spindle_ce;

/* --- bailouts ------------------------------------------------------------------------------------------- */

bool spindle_guarded(void (*function)(void *), void *argument)
{
	JMP_BUF *volatile outer = EG(bailout);
	JMP_BUF frame;
	volatile bool ended = false;

	EG(bailout) = &frame;
	if (SETJMP(frame) == 0) {
		function(argument);
		ended = true;
	}
	EG(bailout) = outer;
	return ended;
}

ZEND_COLD ZEND_NORETURN void spindle_bailout(void)
{
	zend_bailout();
	ZEND_UNREACHABLE();
}

/* --- functions that exist for a time ----------------------------------------------------------------------- */

#define MOST_PASSING 8
static const char *passing[MOST_PASSING];
static int passing_count;

void spindle_functions_add(const zend_function_entry *functions)
{
	zend_module_entry *module = EG(current_module);

	for (; functions->fname && passing_count < MOST_PASSING; functions++) {
		zend_function_entry one[2] = {*functions};
		size_t length = strlen(functions->fname);

		if (zend_hash_str_exists(EG(function_table), functions->fname, length)) {
			continue;
		}
		EG(current_module) = &spindle_module_entry;
		zend_result registered = zend_register_functions(NULL, one, NULL, MODULE_TEMPORARY);
		EG(current_module) = module;
		zval *entry = zend_hash_str_find(EG(function_table), functions->fname, length);
		if (registered != SUCCESS || !entry) {
			continue;
		}
		/* Where the engine keeps compiled code: caches of calls that point to it are freed at the same time. */
		zend_internal_function *lasting = zend_arena_alloc(&CG(arena), sizeof(*lasting));
		memcpy(lasting, Z_PTR_P(entry), sizeof(*lasting));
		lasting->fn_flags |= ZEND_ACC_ARENA_ALLOCATED;
		free(Z_PTR_P(entry));
		ZVAL_PTR(entry, lasting);
		passing[passing_count++] = functions->fname;
	}
}

/* The engine does not expect such functions when it removes those of the request. */
void spindle_functions_remove(void)
{
	dtor_func_t destructor = EG(function_table)->pDestructor;

	EG(function_table)->pDestructor = NULL;
	while (passing_count) {
		passing_count--;
		zend_hash_str_del(EG(function_table), passing[passing_count], strlen(passing[passing_count]));
	}
	EG(function_table)->pDestructor = destructor;
}

/* --- abandoned stacks ---------------------------------------------------------------------------------- */

/* Keeps an abandoned generator from being destroyed: neither its finally blocks nor destructors run. Like everything
 * on such a stack, it is freed with the heap. */
static void mark_abandoned(zend_generator *generator)
{
	GC_ADD_FLAGS(&generator->std, IS_OBJ_DESTRUCTOR_CALLED | IS_OBJ_FREE_CALLED);
}

void spindle_abandon(zend_execute_data *frame)
{
	for (; frame; frame = frame->prev_execute_data) {
		if (frame->func) {
			if (ZEND_CALL_INFO(frame) & ZEND_CALL_GENERATOR) {
				mark_abandoned((zend_generator *) frame->return_value);
			}
		} else if (Z_TYPE(frame->This) == IS_OBJECT && Z_OBJCE(frame->This) == zend_ce_generator) {
			/* It delegates to the generator above, through others in between. */
			for (zend_generator *by = (zend_generator *) Z_OBJ(frame->This); by; by = by->node.parent) {
				mark_abandoned(by);
			}
		}
	}
}

void spindle_exits_here(zend_execute_data *script, const spindle_vm_stack *stack)
{
	zval *global;

	EG(vm_stack) = stack->stack;
	EG(vm_stack_top) = stack->top;
	EG(vm_stack_end) = stack->end;
	EG(vm_stack_page_size) = stack->page_size;
	EG(current_execute_data) = script->prev_execute_data;
	EG(fake_scope) = NULL;
	EG(error_handling) = EH_NORMAL;
	EG(exception_class) = NULL;
	/* Values of global variables may be in frames that are gone. */
	ZEND_HASH_FOREACH_VAL(&EG(symbol_table), global) {
		if (Z_TYPE_P(global) == IS_INDIRECT) {
			zval *place = Z_INDIRECT_P(global);

			if (Z_ISUNDEF_P(place)) {
				ZVAL_NULL(global);
			} else {
				ZVAL_COPY_VALUE(global, place);
				ZVAL_UNDEF(place);
			}
		}
	} ZEND_HASH_FOREACH_END();
	CG(unclean_shutdown) = 0;
	spindle_exits();
}

void spindle_exits(void)
{
	if (EG(exception)) {
		zend_clear_exception();
	}
	EG(exception) = zend_create_unwind_exit();
}

spindle_vm_stack spindle_running_vm_stack(void)
{
	return (spindle_vm_stack) {EG(vm_stack), EG(vm_stack_top), EG(vm_stack_end), EG(vm_stack_page_size)};
}

/* --- trampolines ---------------------------------------------------------------------------------------- */

#define CALL_INFO() \
	((const spindle_call_info *) EX(func)->internal_function.reserved[spindle_reserved_slot])

spindle_call *spindle_calls;

/* For functions that hold nothing while they wait. */
void spindle_trampoline(INTERNAL_FUNCTION_PARAMETERS)
{
	CALL_INFO()->handler(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (UNEXPECTED(spindle_check_after)) {
		spindle_after_call(execute_data);
	}
}

/* Sets the result of a function that closes a handle. */
static void answer_closed(zend_execute_data *execute_data, zval *return_value)
{
	const zend_function *function = EX(func);
	uint32_t type = function->common.fn_flags & ZEND_ACC_HAS_RETURN_TYPE
		? ZEND_TYPE_FULL_MASK(function->common.arg_info[-1].type) : 0;
	if (type & MAY_BE_TRUE) {
		ZVAL_TRUE(return_value);
	} else if (type & MAY_BE_LONG) {
		ZVAL_LONG(return_value, -1);
	} else {
		ZVAL_NULL(return_value);
	}
}

/* Sets the result of curl_multi_exec() when there is nothing to do yet. */
static void answer_still_running(zend_execute_data *execute_data, zval *return_value)
{
	if (ZEND_CALL_NUM_ARGS(execute_data) > 1) {
		zval *running = ZEND_CALL_ARG(execute_data, 2);
		zend_long count = zval_get_long(running);
		ZEND_TRY_ASSIGN_REF_LONG(running, count > 0 ? count : 1);
	}
	RETVAL_LONG(0); /* CURLM_OK */
}

/* Returns true if a call may be made now; otherwise it has its result, or an exception was thrown. */
static bool may_be_made(spindle_call *call, zval *return_value)
{
	switch (spindle_before_call(call)) {
	case SPINDLE_CALL_MADE:
		return true;
	case SPINDLE_CALL_HAS_CLOSED:
		answer_closed(call->frame, return_value);
		return false;
	case SPINDLE_CALL_IS_RUNNING:
		answer_still_running(call->frame, return_value);
		return false;
	default:
		return false;
	}
}

/* Makes a call that may use handles. Inlined, since returns through frames that were there before a system call are slow. */
static zend_always_inline void hold(INTERNAL_FUNCTION_PARAMETERS)
{
	spindle_call call = { .frame = execute_data };
	if (UNEXPECTED(spindle_check_before) && !may_be_made(&call, return_value)) {
		return;
	}
	call.outer = spindle_calls;
	spindle_calls = &call;
	CALL_INFO()->handler(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (EXPECTED(spindle_calls == &call)) { /* not in a fiber that was suspended below it */
		spindle_calls = call.outer;
	}
	if (UNEXPECTED(call.has_locks)) {
		spindle_release_locks(&call);
	}
	if (UNEXPECTED(spindle_check_after)) {
		spindle_after_call(execute_data);
	}
}

/* For functions that use handles, or state of their extension outside of any handle. */
void spindle_trampoline_holding(INTERNAL_FUNCTION_PARAMETERS)
{
	hold(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

/* The same for functions after which the coroutine yields now and then, even if they did not wait. */
void spindle_trampoline_fair(INTERNAL_FUNCTION_PARAMETERS)
{
	hold(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (UNEXPECTED(++spindle_calls_without_park >= SPINDLE_CALLS_PER_POLL)) {
		spindle_poll_is_due();
	}
}

/* The same for functions whose result may be another handle on the same connection. */
void spindle_trampoline_linking(INTERNAL_FUNCTION_PARAMETERS)
{
	hold(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (Z_TYPE_P(return_value) == IS_OBJECT || Z_TYPE_P(return_value) == IS_RESOURCE) {
		spindle_call_made(execute_data, return_value);
	}
}

/* --- lists of persistent connections ---------------------------------------------------------------------- */

/* Removes an entry without closing its resource. */
static void list_forget(HashTable *list, zend_string *key)
{
	dtor_func_t destroy = list->pDestructor;
	list->pDestructor = NULL;
	zend_hash_del(list, key);
	list->pDestructor = destroy;
}

static bool list_key_ends_in(const zend_string *key, const char *mark, size_t length)
{
	return ZSTR_LEN(key) >= length && !memcmp(ZSTR_VAL(key) + ZSTR_LEN(key) - length, mark, length);
}

/* Removes the suffix `shown` from the keys of persistent resources that have it, and appends `hidden` to the keys
 * without any mark (all marks contain `any`). The entries stay in the one list, because code that closes a resource
 * searches it for the resource. */
void spindle_list_show(const char *shown, const char *hidden, const char *any)
{
	HashTable *list = &EG(persistent_list);
	HashTable renamed;
	zend_string *key;
	zval *value;
	zend_hash_init(&renamed, 8, NULL, NULL, 1);
	ZEND_HASH_FOREACH_STR_KEY_VAL(list, key, value) {
		if (key && list_key_ends_in(key, shown, strlen(shown))) {
			zend_hash_str_update(&renamed, ZSTR_VAL(key), ZSTR_LEN(key) - strlen(shown), value);
			list_forget(list, key);
		} else if (key && !zend_memnstr(ZSTR_VAL(key), any, strlen(any), ZSTR_VAL(key) + ZSTR_LEN(key))) {
			zend_string *marked = zend_string_concat2(ZSTR_VAL(key), ZSTR_LEN(key), hidden, strlen(hidden));
			zend_hash_str_update(&renamed, ZSTR_VAL(marked), ZSTR_LEN(marked), value);
			zend_string_release(marked);
			list_forget(list, key);
		}
	} ZEND_HASH_FOREACH_END();
	ZEND_HASH_FOREACH_STR_KEY_VAL(&renamed, key, value) {
		zend_hash_str_update(list, ZSTR_VAL(key), ZSTR_LEN(key), value);
	} ZEND_HASH_FOREACH_END();
	zend_hash_destroy(&renamed);
}

/* Closes the resources whose keys contain `mark`. Closing one may change the list. */
void spindle_list_drop(const char *mark)
{
	size_t length = strlen(mark);
	bool again = true;
	while (again) {
		zend_string *key;
		again = false;
		ZEND_HASH_FOREACH_STR_KEY(&EG(persistent_list), key) {
			if (key && zend_memnstr(ZSTR_VAL(key), mark, length, ZSTR_VAL(key) + ZSTR_LEN(key))) {
				zend_hash_del(&EG(persistent_list), key);
				again = true;
				break;
			}
		} ZEND_HASH_FOREACH_END();
	}
}

/* --- parameters ----------------------------------------------------------------------------------------- */

/* Returns the number of parameters that a callable declares, including those with a default, but not the variadic
 * one. */
uint32_t spindle_parameters_of(zval *callable)
{
	zend_fcall_info_cache fcc;
	uint32_t count = 0;
	if (zend_is_callable_ex(callable, NULL, 0, NULL, &fcc, NULL)) {
		count = fcc.function_handler->common.num_args;
		zend_release_fcall_info_cache(&fcc);
	}
	return count;
}

/* Resolves the call of a closure as zend_is_callable_ex() does, in a fraction of its time. Returns false for other values. */
bool spindle_closure_resolve(zval *callable, zend_fcall_info_cache *call)
{
	if (Z_TYPE_P(callable) != IS_OBJECT || Z_OBJCE_P(callable) != zend_ce_closure) {
		return false;
	}
	zend_object *closure = Z_OBJ_P(callable);
	if (closure->handlers->get_closure(closure, &call->calling_scope, &call->function_handler, &call->object, true) != SUCCESS
		|| call->function_handler->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE) {
		return false;
	}
	call->called_scope = call->calling_scope;
#ifdef SPINDLE_CALLED_CLOSURE
	call->closure = closure;
#endif
	return true;
}

/* --- tables with weak keys ------------------------------------------------------------------------------ */

HashTable *spindle_table_new(void)
{
	HashTable *table;

	ALLOC_HASHTABLE(table);
	zend_hash_init(table, 0, NULL, ZVAL_PTR_DTOR, 0);
	return table;
}

zval *spindle_table_bucket(HashTable *table, uint32_t index)
{
	if (index >= table->nNumUsed) {
		return NULL;
	}
	return HT_IS_PACKED(table) ? &table->arPacked[index] : &table->arData[index].val;
}

/* Makes a new table, which has room for them, the list of these values. Takes over their references. */
void spindle_table_fill(HashTable *table, const zval *values, uint32_t count)
{
	zend_hash_real_init_packed(table);
	ZEND_HASH_FILL_PACKED(table) {
		for (uint32_t index = 0; index < count; index++) {
			ZVAL_COPY_VALUE(__fill_val, &values[index]);
			ZEND_HASH_FILL_NEXT();
		}
	} ZEND_HASH_FILL_END();
}

/* Returns the value at this position, or at the next used one, with its key, and moves the position past it; null at the end. */
zval *spindle_table_next(HashTable *table, uint32_t *position, zval *key)
{
	while (*position < table->nNumUsed) {
		uint32_t index = (*position)++;
		Bucket *bucket;

		if (HT_IS_PACKED(table)) {
			if (Z_TYPE(table->arPacked[index]) != IS_UNDEF) {
				ZVAL_LONG(key, index);
				return &table->arPacked[index];
			}
			continue;
		}
		bucket = &table->arData[index];
		if (Z_TYPE(bucket->val) == IS_UNDEF) {
			continue;
		}
		if (bucket->key) {
			ZVAL_STR_COPY(key, bucket->key);
		} else {
			ZVAL_LONG(key, bucket->h);
		}
		return &bucket->val;
	}
	return NULL;
}

zval *spindle_table_find(const HashTable *table, zend_string *key)
{
	return zend_hash_find(table, key);
}

zval *spindle_weak_find(const HashTable *table, const zend_object *key)
{
	return zend_hash_index_find(table, zend_object_to_weakref_key(key));
}

/* Destroys a table to which nothing more is added. While a value is destroyed, other entries may be removed, even by
 * the engine: it removes a freed object from all weak tables, as it may from its own WeakMap. */
void spindle_weak_destroy(HashTable *table)
{
	zend_ulong key;

	ZEND_HASH_FOREACH_NUM_KEY(table, key) {
		zend_weakrefs_hash_del(table, zend_weakref_key_to_object(key));
	} ZEND_HASH_FOREACH_END();
	spindle_hash_destroy_free(table);
}

/* Returns the object of a WeakReference, or null. */
void spindle_weak_target(zend_object *reference, zval *result)
{
	zend_function *get = zend_hash_str_find_ptr(&zend_ce_weakref->function_table, ZEND_STRL("get"));

	ZVAL_NULL(result);
	if (reference->ce != zend_ce_weakref) {
		return;
	}
	zend_call_known_instance_method_with_0_params(get, reference, result);
	if (Z_ISUNDEF_P(result)) {
		ZVAL_NULL(result);
	}
}

/* --- small macros as functions -------------------------------------------------------------------------- */

void spindle_zval_dtor(zval value) { i_zval_ptr_dtor(&value); }
void spindle_object_release(zend_object *object) { OBJ_RELEASE(object); }

void spindle_object_skip_destructor(zend_object *object) { GC_ADD_FLAGS(object, IS_OBJ_DESTRUCTOR_CALLED); }
void spindle_object_revive(zend_object *object) { GC_DEL_FLAGS(object, IS_OBJ_DESTRUCTOR_CALLED); }
void spindle_object_abandon(zend_object *object)
{
	GC_ADD_FLAGS(object, IS_OBJ_DESTRUCTOR_CALLED | IS_OBJ_FREE_CALLED);
}
bool spindle_object_is_referenced_weakly(const zend_object *object) { return (OBJ_FLAGS(object) & IS_OBJ_WEAKLY_REFERENCED) != 0; }
bool spindle_object_is_destructed(const zend_object *object) { return (OBJ_FLAGS(object) & IS_OBJ_DESTRUCTOR_CALLED) != 0; }

/* Initialises an object in this memory, followed by the properties that its class declares. */
void spindle_object_begin(zend_object *object, zend_class_entry *ce, const zend_object_handlers *handlers)
{
	zend_object_std_init(object, ce);
	if (ce->default_properties_count) {
		object_properties_init(object, ce);
	}
	object->handlers = handlers;
}

zval *spindle_object_property(zend_object *object, uint32_t place) { return OBJ_PROP_NUM(object, place); }

void spindle_class_set_create(zend_class_entry *ce, zend_object *(*create)(zend_class_entry *))
{
	ce->create_object = create;
}

void spindle_class_set_get_iterator(
	zend_class_entry *ce, zend_object_iterator *(*get)(zend_class_entry *, zval *, int))
{
	ce->get_iterator = get;
}

/* Returns an iterator of the engine with this object as its state. Takes over the reference to the object. */
zend_object_iterator *spindle_iterator_make(zend_object *state, const zend_object_iterator_funcs *funcs)
{
	zend_object_iterator *iterator = emalloc(sizeof(*iterator));

	zend_iterator_init(iterator);
	ZVAL_OBJ(&iterator->data, state);
	iterator->funcs = funcs;
	return iterator;
}

zend_class_entry *spindle_class_declare(const char *name, size_t length, const zend_function_entry *methods)
{
	zend_class_entry ce;

	INIT_CLASS_ENTRY_EX(ce, name, length, methods);
	return zend_register_internal_class(&ce);
}

/* Declares a class that extends a class of another extension, which has been started because `dependencies` lists
 * it. */
zend_class_entry *spindle_class_declare_extending(
	const char *name, size_t length, const zend_function_entry *methods, zend_class_entry *parent)
{
	zend_class_entry ce;

	INIT_CLASS_ENTRY_EX(ce, name, length, methods);
	return zend_register_internal_class_ex(&ce, parent);
}

/* Creates an object of a class that extends one of another extension, by that extension's code. Some extensions look up the data
 * of a class by the name of the nearest internal class, which has to be their own. */
static zend_object *create_as_base(zend_class_entry *ce)
{
	zend_class_entry *ours = ce, *base;
	zend_object *object;

	while (ours->type != ZEND_INTERNAL_CLASS) {
		ours = ours->parent;
	}
	base = ours->parent;
	ours->type = ZEND_USER_CLASS;
	object = base->create_object(ce);
	ours->type = ZEND_INTERNAL_CLASS;
	return object;
}

void spindle_class_create_as_base(zend_class_entry *ce)
{
	ce->create_object = create_as_base;
}

/* The handlers of objects whose properties are those of other objects. */
static struct {
	zend_object_handlers handlers;
	const zend_object_handlers *base;
	spindle_forwarded_property property;
} forwarded;

static zval *forwarded_read(zend_object *object, zend_string *name, int type, void **cache, zval *room)
{
	return forwarded.property(object, name, room) ? room
		: forwarded.base->read_property(object, name, type, cache, room);
}

static int forwarded_has(zend_object *object, zend_string *name, int check, void **cache)
{
	zval value;
	bool has;

	if (!forwarded.property(object, name, &value)) {
		return forwarded.base->has_property(object, name, check, cache);
	}
	has = check == ZEND_PROPERTY_EXISTS || (check == ZEND_PROPERTY_NOT_EMPTY ? zend_is_true(&value) : Z_TYPE(value) > IS_NULL);
	zval_ptr_dtor(&value);
	return has;
}

/* All properties, for dumps. */
static HashTable *forwarded_debug_info(zend_object *object, int *is_temporary)
{
	HashTable *all = zend_array_dup(zend_std_get_properties(object));
	zend_string *name;
	zval value;

	ZEND_HASH_FOREACH_STR_KEY(&object->ce->properties_info, name) {
		if (name && forwarded.property(object, name, &value)) {
			zend_hash_update(all, name, &value);
		}
	} ZEND_HASH_FOREACH_END();
	*is_temporary = 1;
	return all;
}

static zend_object *create_forwarding(zend_class_entry *ce)
{
	zend_object *object = create_as_base(ce);

	if (!forwarded.base) {
		forwarded.base = object->handlers;
		forwarded.handlers = *object->handlers;
		forwarded.handlers.read_property = forwarded_read;
		forwarded.handlers.has_property = forwarded_has;
		/* The object has no data of the extension. */
		forwarded.handlers.free_obj = zend_object_std_dtor;
		forwarded.handlers.get_debug_info = forwarded_debug_info;
	}
	object->handlers = &forwarded.handlers;
	return object;
}

/* Lets `property` read the properties of objects of a class. It returns false for one that is the object's own. At module start,
 * for one class. */
void spindle_class_forward_properties(zend_class_entry *ce, spindle_forwarded_property property)
{
	ce->create_object = create_forwarding;
	forwarded.property = property;
}

/* Declares a public property that is set once, to an object of a class. The name is not freed, because free() need not belong to
 * the allocator that PHP uses: see scripts/gen-stub. */
void spindle_class_declare_readonly(zend_class_entry *ce, const char *name, size_t length, const char *class)
{
	zend_string *key = zend_string_init_interned(name, length, true);
	zval none;

	ZVAL_UNDEF(&none);
	zend_declare_typed_property(ce, key, &none, ZEND_ACC_PUBLIC | ZEND_ACC_READONLY, NULL,
		(zend_type) ZEND_TYPE_INIT_CLASS(zend_string_init(class, strlen(class), true), 0, 0));
}

/* Hides the argument at this index, from 0 on, in traces. */
void spindle_parameter_set_sensitive(zend_function *function, uint32_t index)
{
	zend_add_parameter_attribute(function, index, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);
}

bool spindle_signal_is_default(int signal)
{
	struct sigaction action;

#ifdef ZEND_SIGNALS
	zend_sigaction(signal, NULL, &action);
#else
	if (sigaction(signal, NULL, &action) != 0) {
		return true;
	}
#endif
	return action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN;
}

void spindle_gc_add(zend_get_gc_buffer *buffer, zval *value)
{
	if (Z_REFCOUNTED_P(value)) {
		zend_get_gc_buffer_add_zval(buffer, value);
	}
}

/* Passes on the buffer, and returns the table of properties that a class of PHP code declares. */
HashTable *spindle_gc_use(zend_get_gc_buffer *buffer, zend_object *object, zval **table, int *count)
{
	zend_get_gc_buffer_use(buffer, table, count);
	return object->ce->default_properties_count || object->properties ? zend_std_get_properties(object) : NULL;
}

/* Returns true if the function takes one of its first `count` arguments by reference. The engine warns of a value before the
 * function has a frame, at the position of the code that calls it. */
bool spindle_takes_references(const zend_function *function, uint32_t count)
{
	for (uint32_t i = 1; i <= count; i++) {
		if (ARG_MUST_BE_SENT_BY_REF(function, i)) {
			return true;
		}
	}
	return false;
}

/* Resolves a callable that is a function or a method of PHP code, by its name. */
static bool resolve_other(zval *callable, zend_fcall_info_cache *call)
{
	if (!zend_is_callable_ex(callable, NULL, 0, NULL, call, NULL)) {
		return false;
	}
	if (call->function_handler->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE) {
		zend_release_fcall_info_cache(call);
		return false;
	}
	return true;
}

/* Makes a call that no PHP code makes, as if the first line of the function itself made it: messages then name that
 * line. */
static bool call_from(const zend_op_array *place, zend_fcall_info *call, zend_fcall_info_cache *resolved)
{
	zend_op_array code = {.type = ZEND_USER_FUNCTION, .filename = place->filename};
	zend_op instruction = {.opcode = ZEND_DO_FCALL, .result_type = IS_VAR, .lineno = place->line_start};
	zend_execute_data frame = {.opline = &instruction, .func = (zend_function *) &code, .prev_execute_data = EG(current_execute_data)};

	EG(current_execute_data) = &frame;
	bool called = zend_call_function(call, resolved) == SUCCESS;
	EG(current_execute_data) = frame.prev_execute_data;
	return called;
}

bool spindle_call_closure(zval *closure, zval *result, uint32_t argc, zval *argv)
{
	zend_fcall_info_cache resolved = {0};
	zend_fcall_info call = {.size = sizeof(call), .retval = result, .param_count = argc, .params = argv};
	ZVAL_COPY_VALUE(&call.function_name, closure);
	if (UNEXPECTED(!spindle_closure_resolve(closure, &resolved)) && !resolve_other(closure, &resolved)) {
		return call_user_function(NULL, NULL, closure, result, argc, argv) == SUCCESS;
	}
	const zend_function *function = resolved.function_handler;
	if (UNEXPECTED(spindle_takes_references(function, argc)) && function->type == ZEND_USER_FUNCTION
			&& !spindle_user_frame(EG(current_execute_data))) {
		return call_from(&function->op_array, &call, &resolved);
	}
	return zend_call_function(&call, &resolved) == SUCCESS;
}

zend_string *spindle_string_new(const char *text, size_t length, bool is_lasting)
{
	return zend_string_init(text, length, is_lasting);
}

/* The string stays until the end of the request. Equal texts share one string. */
zend_string *spindle_string_intern(const char *text, size_t length)
{
	zend_string *string = zend_string_init(text, length, 0);

	zend_string_hash_val(string);
	return zend_new_interned_string(string);
}

void spindle_string_release(zend_string *string) { zend_string_release(string); }

void spindle_print(const zend_string *text) { PHPWRITE(ZSTR_VAL(text), ZSTR_LEN(text)); }

/* Reports on the running code, ignoring its error handler, its @ and its error mode. The result of error_get_last()
 * does not change. */
void spindle_report_at(const char *file, uint32_t line, const char *text, int reporting)
{
	int own_reporting = EG(error_reporting), last_type = PG(last_error_type), last_line = PG(last_error_lineno);
	zend_string *last_message = PG(last_error_message), *last_file = PG(last_error_file);
	zend_error_handling_t handling = EG(error_handling);
	zend_string *name = zend_string_init(file, strlen(file), 0), *message = zend_string_init(text, strlen(text), 0);

	PG(last_error_message) = PG(last_error_file) = NULL;
	EG(error_handling) = EH_NORMAL;
	EG(error_reporting) = reporting;
	zend_error_cb(E_WARNING, name, line, message);
	EG(error_reporting) = own_reporting;
	EG(error_handling) = handling;
	if (PG(last_error_message)) {
		zend_string_release(PG(last_error_message));
	}
	if (PG(last_error_file)) {
		zend_string_release(PG(last_error_file));
	}
	PG(last_error_type) = last_type;
	PG(last_error_lineno) = last_line;
	PG(last_error_message) = last_message;
	PG(last_error_file) = last_file;
	zend_string_release(message);
	zend_string_release(name);
}

void spindle_fatal(const char *text) { zend_error_noreturn(E_ERROR, "%s", text); }
void spindle_core_warning(const char *text) { zend_error(E_CORE_WARNING, "%s", text); }

void spindle_stack_clean(zend_stack *stack, bool zvals)
{
	zend_stack_clean(stack, zvals ? (void (*)(void *)) ZVAL_PTR_DTOR : NULL, true);
}

const int *spindle_signals_held(void)
{
#ifdef ZEND_SIGNALS
	return &SIGG(depth);
#else
	return NULL;
#endif
}

bool spindle_signal_is_taken(int signal)
{
	if (signal < 1 || signal >= NSIG) {
		return false;
	}
#ifdef ZEND_SIGNALS
	void (*handler)(int) = (void (*)(int)) SIGG(handlers)[signal - 1].handler;
#else
	struct sigaction action;
	void (*handler)(int) = SIG_DFL;
	if (sigaction(signal, NULL, &action) == 0) {
		handler = action.sa_handler;
	}
#endif
	return handler != SIG_DFL && handler != SIG_IGN;
}

bool spindle_vm_interrupt_take(void)
{
	/* A time-out, which ends the script by a bailout, is left to PHP code. */
	if (!zend_atomic_bool_load_ex(&EG(vm_interrupt)) || zend_atomic_bool_load_ex(&EG(timed_out))) {
		return false;
	}
	zend_atomic_bool_store_ex(&EG(vm_interrupt), false);
	return true;
}

/* Returns true if this frame is PHP code's, and the VM stack ends with it, or with the newest of its calls that have not begun:
 * no instruction of it is in the middle of a call by C code, which may have no frame when the engine interrupts at its end. */
bool spindle_is_innermost(const zend_execute_data *frame)
{
	if (!frame->func || !ZEND_USER_CODE(frame->func->type)) {
		return false; /* others have no newest call */
	}
	const zend_execute_data *last = frame->call ? frame->call : frame;
	return last->func && (const char *) last + zend_vm_calc_used_stack(ZEND_CALL_NUM_ARGS(last), last->func) == (const char *) EG(vm_stack_top);
}

void spindle_vm_interrupt_set(void) { zend_atomic_bool_store_ex(&EG(vm_interrupt), true); }

/* Returns true if a copy of the table needs no counted reference, and nothing was removed from the table. */
bool spindle_table_is_uncounted(const HashTable *table)
{
	if (HT_IS_PACKED(table) || table->nNumUsed != table->nNumOfElements || table->nNumUsed == 0) {
		return false;
	}
	for (uint32_t i = 0; i < table->nNumUsed; i++) {
		const Bucket *bucket = table->arData + i;
		if (Z_REFCOUNTED(bucket->val) || Z_TYPE(bucket->val) == IS_INDIRECT || (bucket->key && !ZSTR_IS_INTERNED(bucket->key))) {
			return false;
		}
	}
	return true;
}

/* Copies such a table in one piece. */
HashTable *spindle_table_copy_uncounted(const HashTable *table)
{
	HashTable *copy = emalloc(sizeof(HashTable));

	*copy = *table;
	GC_SET_REFCOUNT(copy, 1);
	GC_TYPE_INFO(copy) = GC_ARRAY;
	HT_SET_ITERATORS_COUNT(copy, 0);
	copy->nInternalPointer = 0;
	copy->pDestructor = ZVAL_PTR_DTOR;
	HT_SET_DATA_ADDR(copy, emalloc(HT_SIZE(table)));
	memcpy(HT_GET_DATA_ADDR(copy), HT_GET_DATA_ADDR(table), HT_USED_SIZE(table));
	return copy;
}

/* Adds a string under a key that the table does not have, and that is not the text of an integer. */
void spindle_table_add_text(HashTable *table, zend_string *key, const char *text, size_t length)
{
	zval value;

	ZVAL_STRINGL_FAST(&value, text, length);
	if (EXPECTED(table->nNumUsed < table->nTableSize && !(HT_FLAGS(table) & (HASH_FLAG_PACKED | HASH_FLAG_UNINITIALIZED)))) {
		_zend_hash_append(table, key, &value);
	} else {
		zend_hash_add_new(table, key, &value);
	}
}

void spindle_hash_destroy_free(HashTable *table)
{
	zend_hash_destroy(table);
	FREE_HASHTABLE(table);
}

/* The request's own handlers (output_buffering, output_handler), the outermost first. */
static spindle_request_handlers request_handlers;

void spindle_output_request_handlers(spindle_request_handlers *present, const spindle_request_handlers *others)
{
	if (present) {
		*present = request_handlers;
	}
	if (others) {
		request_handlers = *others;
	}
}

/* The context of PHP's default handler, which has none otherwise: it distinguishes the request's handler from a
 * later one at the same address. */
static char of_the_request;

#define OUTPUT_HANDLER(i) (((php_output_handler **) zend_stack_base(&OG(handlers)))[i])

void spindle_output_begin(bool with_handlers)
{
	request_handlers.count = with_handlers ? MIN(zend_stack_count(&OG(handlers)), 4) : 0;
	for (int i = 0; i < request_handlers.count; i++) {
		php_output_handler *handler = OUTPUT_HANDLER(i);
		request_handlers.all[i].handler = handler;
		request_handlers.all[i].is_default = zend_string_equals_literal(handler->name, "default output handler");
		if (request_handlers.all[i].is_default) {
			handler->opaq = &of_the_request;
		}
	}
}

bool spindle_output_is_shared(void)
{
	return request_handlers.count != 0;
}

/* Returns how many of the present handlers are the request's. */
static int shared_handlers(void)
{
	int count = MIN(request_handlers.count, zend_stack_count(&OG(handlers))), i;

	for (i = 0; i < count && OUTPUT_HANDLER(i) == request_handlers.all[i].handler; i++) {
		if (request_handlers.all[i].is_default && OUTPUT_HANDLER(i)->opaq != &of_the_request) {
			break;
		}
	}
	return i;
}

bool spindle_output_has_own(void)
{
	return zend_stack_count(&OG(handlers)) > shared_handlers();
}

void spindle_output_take(zend_stack *own)
{
	int shared = shared_handlers();

	if (shared == 0) {
		*own = OG(handlers);
		zend_stack_init(&OG(handlers), sizeof(php_output_handler *));
		OG(active) = NULL;
		return;
	}
	zend_stack_init(own, sizeof(php_output_handler *));
	for (int i = shared; i < zend_stack_count(&OG(handlers)); i++) {
		zend_stack_push(own, &OUTPUT_HANDLER(i));
	}
	while (zend_stack_count(&OG(handlers)) > shared) {
		zend_stack_del_top(&OG(handlers));
	}
	OG(active) = OUTPUT_HANDLER(shared - 1);
}

void spindle_output_end_own(void)
{
	while (spindle_output_has_own()) {
		OG(active)->flags |= PHP_OUTPUT_HANDLER_REMOVABLE;
		if (php_output_end() != SUCCESS) {
			break;
		}
	}
}

void spindle_output_adopt(zend_stack *handlers)
{
	if (zend_stack_count(&OG(handlers)) == 0) {
		zend_stack_destroy(&OG(handlers)); /* empty, but perhaps with storage */
		OG(handlers) = *handlers;
		OG(active) = NULL;
		for (int i = 0; i < zend_stack_count(&OG(handlers)); i++) {
			OG(active) = OUTPUT_HANDLER(i);
			OG(active)->level = i;
		}
		zend_stack_init(handlers, sizeof(php_output_handler *));
		return;
	}
	for (int i = 0; i < zend_stack_count(handlers); i++) {
		php_output_handler *handler = ((php_output_handler **) zend_stack_base(handlers))[i];
		zend_stack_push(&OG(handlers), &handler);
		handler->level = zend_stack_count(&OG(handlers)) - 1; /* at level 0 PHP writes to the client */
		OG(active) = handler;
	}
	zend_stack_destroy(handlers);
}

zend_object *spindle_exception_new(zend_class_entry *ce, const char *message)
{
	zval object;

	if (!instanceof_function(ce, zend_ce_throwable) || object_init_ex(&object, ce) != SUCCESS) {
		zend_error_noreturn(E_CORE_ERROR, "Class %s is no exception", ZSTR_VAL(ce->name));
	}
	zend_class_entry *base = instanceof_function(ce, zend_ce_exception) ? zend_ce_exception : zend_ce_error;
	zend_update_property_string(base, Z_OBJ(object), ZEND_STRL("message"), message);
	return Z_OBJ(object);
}

/* Takes over the caller's reference. */
void spindle_throw(zend_object *exception)
{
	zval value;

	ZVAL_OBJ(&value, exception);
	zend_throw_exception_object(&value);
}

void spindle_throw_error(const char *message)
{
	zend_throw_error(NULL, "%s", message);
}

/* Throws a TypeError or a ValueError about an argument of the running function. */
void spindle_argument_error(uint32_t number, bool is_type, const char *message)
{
	if (is_type) {
		zend_argument_type_error(number, "%s", message);
	} else {
		zend_argument_value_error(number, "%s", message);
	}
}

static zend_class_entry *exception_base(const zend_object *exception)
{
	return instanceof_function(exception->ce, zend_ce_exception) ? zend_ce_exception : zend_ce_error;
}

static zval *exception_property(zend_object *exception, zend_known_string_id name, zval *room)
{
	return zend_read_property_ex(exception_base(exception), exception, ZSTR_KNOWN(name), true, room);
}

/* Returns the file (borrowed) and line where an exception was created; the line is 0 if no code ran there. */
uint32_t spindle_exception_position(zend_object *exception, zend_string **file)
{
	zval room, *value = exception_property(exception, ZEND_STR_FILE, &room);
	*file = Z_TYPE_P(value) == IS_STRING ? Z_STR_P(value) : NULL;
	value = exception_property(exception, ZEND_STR_LINE, &room);
	return Z_TYPE_P(value) == IS_LONG && Z_LVAL_P(value) > 0 ? (uint32_t) Z_LVAL_P(value) : 0;
}

void spindle_exception_set_position(zend_object *exception, zend_string *file, uint32_t line)
{
	zval value;

	ZVAL_STR(&value, file);
	zend_update_property_ex(exception_base(exception), exception, ZSTR_KNOWN(ZEND_STR_FILE), &value);
	ZVAL_LONG(&value, line);
	zend_update_property_ex(exception_base(exception), exception, ZSTR_KNOWN(ZEND_STR_LINE), &value);
}

/* Like spindle_exception_new(), but independent of the running code: without a trace and a position. */
zend_object *spindle_exception_apart(zend_class_entry *ce, const char *message)
{
	zend_execute_data *current = EG(current_execute_data);

	EG(current_execute_data) = NULL;
	zend_object *exception = spindle_exception_new(ce, message);
	EG(current_execute_data) = current;
	return exception;
}

/* Returns the message (borrowed), or NULL if a class has replaced it by something else. */
zend_string *spindle_exception_message(zend_object *exception)
{
	zval room, *value = exception_property(exception, ZEND_STR_MESSAGE, &room);
	return Z_TYPE_P(value) == IS_STRING ? Z_STR_P(value) : NULL;
}

/* Returns the previous exception (borrowed), or NULL. */
zend_object *spindle_exception_previous(zend_object *exception)
{
	zval room, *value = exception_property(exception, ZEND_STR_PREVIOUS, &room);
	return Z_TYPE_P(value) == IS_OBJECT ? Z_OBJ_P(value) : NULL;
}

/* Replaces the previous exception by another one, or none. */
void spindle_exception_replace_previous(zend_object *exception, zend_object *previous)
{
	zval value;

	ZVAL_NULL(&value);
	if (previous) {
		ZVAL_OBJ(&value, previous);
	}
	zend_update_property_ex(exception_base(exception), exception, ZSTR_KNOWN(ZEND_STR_PREVIOUS), &value);
}

/* Returns true if one of these frames is in a finally block or a destructor, where an exception may be in flight. */
bool spindle_cleans_up(zend_execute_data *frame)
{
	for (; frame; frame = frame->prev_execute_data) {
		if (!frame->func || !ZEND_USER_CODE(frame->func->type)) {
			continue;
		}
		const zend_op_array *code = &frame->func->op_array;
		if (code->scope && code->scope->destructor == frame->func) {
			return true;
		}
		uint32_t at = frame->opline - code->opcodes;
		for (int i = 0; i < code->last_try_catch; i++) {
			const zend_try_catch_element *element = &code->try_catch_array[i];
			if (element->finally_op && at >= element->finally_op && at < element->finally_end) {
				return true;
			}
		}
	}
	return false;
}

/* Returns true if an exception that is thrown in these frames passes through them unchanged. It may be changed if
 * another one, which becomes its previous one, may be in flight: in finally blocks, destructors, and C code of other
 * modules. */
bool spindle_passes_unchanged(zend_execute_data *frame)
{
	return frame && frame->func && frame->func->type == ZEND_INTERNAL_FUNCTION
		&& frame->func->internal_function.module == &spindle_module_entry && !spindle_cleans_up(frame);
}

/* Returns a copy of an exception with the same values. No user code runs: __clone() is only called for clones that
 * user code makes. */
zend_object *spindle_exception_copy(zend_object *exception)
{
	zend_object *copy = zend_objects_new(exception->ce);
	zend_string *name;
	zval *value;

	copy->handlers = exception->handlers;
	for (int i = 0; i < exception->ce->default_properties_count; i++) {
		zval *from = &exception->properties_table[i], *to = &copy->properties_table[i];
		ZVAL_DEREF(from);
		ZVAL_COPY_PROP(to, from);
	}
	if (exception->properties) {
		zend_std_get_properties(copy); /* makes the table */
		ZEND_HASH_FOREACH_STR_KEY_VAL(exception->properties, name, value) {
			if (name && Z_TYPE_P(value) != IS_INDIRECT) {
				ZVAL_DEREF(value);
				Z_TRY_ADDREF_P(value);
				zend_hash_update(copy->properties, name, value);
			}
		} ZEND_HASH_FOREACH_END();
	}
	return copy;
}

/* --- reports of uncaught exceptions ----------------------------------------------------------------------- */

static void (*reports_to)(int, zend_string *, const uint32_t, zend_string *);
static const char *report_more;

/* Appends the details to a report, whose text ends in "thrown"; the engine adds the position. */
static void on_report(int type, zend_string *file, const uint32_t line, zend_string *message)
{
	static const char end[] = "\n  thrown";
	size_t length = sizeof(end) - 1, rest = ZSTR_LEN(message) > length ? ZSTR_LEN(message) - length : 0;

	if (!rest || memcmp(ZSTR_VAL(message) + rest, end, length) || strncmp(ZSTR_VAL(message), "Uncaught ", 9)) {
		reports_to(type, file, line, message);
		return;
	}
	zend_string *whole = zend_string_concat3(ZSTR_VAL(message), rest, report_more, strlen(report_more), end, length);
	reports_to(type, file, line, whole);
	zend_string_release(whole);
}

/* Calls the handler of set_exception_handler() as zend_user_exception_handler() does; but that function forgets an exception
 * that the handler throws while code runs. Returns false if it could not be called. */
bool spindle_call_exception_handler(zend_object *exception)
{
	zval handler, argument, result;

	ZVAL_OBJ(&argument, exception);
	ZVAL_UNDEF(&result);
	ZVAL_COPY_VALUE(&handler, &EG(user_exception_handler));
	zend_stack_push(&EG(user_exception_handlers), &handler);
	ZVAL_UNDEF(&EG(user_exception_handler));
	bool called = call_user_function(NULL, NULL, &handler, &result, 1, &argument) == SUCCESS;
	zval_ptr_dtor(&result);
	zval *before = zend_stack_top(&EG(user_exception_handlers));
	if (Z_TYPE(EG(user_exception_handler)) == IS_UNDEF && before) {
		ZVAL_COPY_VALUE(&EG(user_exception_handler), before);
		zend_stack_del_top(&EG(user_exception_handlers));
	}
	return called;
}

/* Reports an exception (its reference passed on) as PHP does an uncaught one, with more details. */
void spindle_report_uncaught(zend_object *exception, const char *more)
{
	reports_to = zend_error_cb;
	report_more = more;
	zend_error_cb = on_report;
	zend_try {
		zend_exception_error(exception, E_ERROR);
	} zend_catch {
		zend_error_cb = reports_to;
		zend_bailout();
	} zend_end_try();
	zend_error_cb = reports_to;
}

/* --- objects that are equal only to themselves --------------------------------------------------------------- */

static zend_object_handlers key_handlers;

static zend_object *key_create(zend_class_entry *ce)
{
	zend_object *key = zend_objects_new(ce);
	object_properties_init(key, ce);
	key->handlers = &key_handlers;
	return key;
}

/* Returns the innermost frame of user code, or NULL. */
zend_execute_data *spindle_user_frame(zend_execute_data *from)
{
	while (from && (!from->func || !ZEND_USER_CODE(from->func->type))) {
		from = from->prev_execute_data;
	}
	return from;
}

/* Returns the line and the file (borrowed; NULL: none) of that frame. */
static uint32_t user_position(zend_execute_data *from, zend_string **file)
{
	from = spindle_user_frame(from);
	if (!from) {
		*file = NULL;
		return 0;
	}
	*file = from->func->op_array.filename;
	if (from->opline->opcode == ZEND_HANDLE_EXCEPTION && EG(opline_before_exception)) {
		return EG(opline_before_exception)->lineno;
	}
	return from->opline->lineno;
}

/* Without a file it is raised at the position of the running code. */
void spindle_warning_at(zend_string *file, uint32_t line, const char *text)
{
	if (!file) {
		zend_execute_data *frame = spindle_user_frame(EG(current_execute_data));

		/* An exception that was put aside leaves this frame: without the exception, PHP would take the frame for
		 * running at line 0. */
		if (frame && !EG(exception) && frame->opline->opcode == ZEND_HANDLE_EXCEPTION) {
			line = user_position(frame, &file);
		}
	}
	if (file) {
		zend_error_at(E_WARNING, file, line, "%s", text);
	} else {
		zend_error(E_WARNING, "%s", text);
	}
}

/* Raises a warning at the position of the running user code; at this position if none runs. */
void spindle_warning_here(zend_string *file, uint32_t line, const char *text)
{
	spindle_warning_at(spindle_user_frame(EG(current_execute_data)) ? NULL : file, line, text);
}

static zend_execute_data *code_at(zend_string *file, uint32_t line)
{
	static zend_op_array code = {.type = ZEND_USER_FUNCTION};
	static zend_op call = {.opcode = ZEND_DO_FCALL};
	static zend_execute_data frame = {.opline = &call, .func = (zend_function *) &code};

	if (!file) {
		line = user_position(EG(current_execute_data), &file);
	}
	code.filename = file ? file : ZSTR_EMPTY_ALLOC();
	call.lineno = line;
	return &frame;
}

void spindle_fiber_begins(zend_fiber_context *context, zend_string *file, uint32_t line)
{
	zend_execute_data *current = EG(current_execute_data);

	EG(current_execute_data) = code_at(file, line);
	zend_observer_fiber_init_notify(context);
	zend_observer_fiber_switch_notify(EG(current_fiber_context), context);
	EG(current_execute_data) = current;
	context->status = ZEND_FIBER_STATUS_RUNNING;
}

void spindle_backtrace(zval *result, zend_execute_data *from, int options, int limit)
{
	zend_execute_data *current = EG(current_execute_data);

	EG(current_execute_data) = from;
	zend_fetch_debug_backtrace(result, 0, options, limit);
	EG(current_execute_data) = current;
}

/* If there is no frame, as after the script's own code, makes one without a function the innermost frame: without any, the
 * engine immediately reports each exception as uncaught. Returns false if there is a frame. */
bool spindle_base_frame_enter(void)
{
	static zend_internal_function none = {.type = ZEND_INTERNAL_FUNCTION};
	static zend_execute_data frame = {.func = (zend_function *) &none};

	if (EG(current_execute_data)) {
		return false;
	}
	none.function_name = ZSTR_EMPTY_ALLOC(); /* the engine reads it */
	EG(current_execute_data) = &frame;
	return true;
}

void spindle_base_frame_leave(void)
{
	EG(current_execute_data) = NULL;
}

void spindle_each_engine_extension(void (*each)(void *with, const char *file), void *with)
{
	for (zend_llist_element *element = zend_extensions.head; element; element = element->next) {
		/* opcache clears its handle, so as not to be unloaded, and functions that it does not need. Its name stays in its file. */
		zend_extension *extension = (zend_extension *) element->data;
		Dl_info object, engine;

		if (dladdr((void *) extension->name, &object) && dladdr((void *) zend_error, &engine) && object.dli_fbase != engine.dli_fbase) {
			each(with, object.dli_fname);
		}
	}
}

uint32_t spindle_call_observers(uintptr_t executor)
{
	return (executor != (uintptr_t) execute_ex ? 1 : 0) | (zend_execute_internal ? 2 : 0) | (ZEND_OBSERVER_ENABLED ? 4 : 0);
}

/* --- module --------------------------------------------------------------------------------------------- */

static ZEND_INI_MH(on_stack_size)
{
	zend_string *error = NULL;
	zend_long size = zend_ini_parse_quantity(new_value, &error);

	bool is_bad = error != NULL;

	if (is_bad) {
		zend_string_release(error);
	}
	if (is_bad || !ZSTR_LEN(new_value) || (size && size < 64 * 1024) || size > 1024 * 1024 * 1024) {
		zend_error(E_WARNING, "async.stack_size must be 0 or between 64K and 1G, \"%s\" given", ZSTR_VAL(new_value));
		return FAILURE;
	}
	spindle_settings.stack_size = size;
	return SUCCESS;
}

static ZEND_INI_MH(on_block_warning)
{
	char *end;
	zend_long ms = ZEND_STRTOL(ZSTR_VAL(new_value), &end, 10);

	if (*end || ms < 0 || ms > 86400 * 1000) {
		zend_error(E_WARNING, "async.block_warning_ms must be between 0 and 86400000, \"%s\" given", ZSTR_VAL(new_value));
		return FAILURE;
	}
	spindle_settings.block_warning_ms = ms;
	return SUCCESS;
}

static ZEND_INI_MH(on_time_slice)
{
	char *end;
	zend_long ms = ZEND_STRTOL(ZSTR_VAL(new_value), &end, 10);

	if (!ZSTR_LEN(new_value) || *end || ms < 0 || ms > 1000) {
		zend_error(E_WARNING, "async.time_slice_ms must be between 0 and 1000, \"%s\" given", ZSTR_VAL(new_value));
		return FAILURE;
	}
	spindle_settings.time_slice_ms = ms;
	return SUCCESS;
}

static ZEND_INI_MH(on_file_pool)
{
	spindle_settings.paths_on_workers = zend_string_equals_literal_ci(new_value, "all");
	if (!spindle_settings.paths_on_workers && !zend_string_equals_literal_ci(new_value, "default")) {
		zend_error(E_WARNING, "async.file_pool must be \"default\" or \"all\", \"%s\" given", ZSTR_VAL(new_value));
		return FAILURE;
	}
	return SUCCESS;
}

static ZEND_INI_MH(on_dump_signal)
{
	static const struct { const char *name; int signal; } signals[] = {
		{"", 0}, {"SIGUSR1", SIGUSR1}, {"SIGUSR2", SIGUSR2}, {"SIGQUIT", SIGQUIT},
	};
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (!strcmp(ZSTR_VAL(new_value), signals[i].name)) {
			spindle_settings.dump_signal = signals[i].signal;
			return SUCCESS;
		}
	}
	zend_error(E_WARNING, "async.dump_signal must be \"SIGUSR1\", \"SIGUSR2\", \"SIGQUIT\" or empty, \"%s\" given", ZSTR_VAL(new_value));
	return FAILURE;
}

static ZEND_INI_MH(on_diagnostics)
{
	spindle_settings.diagnostics = zend_ini_parse_bool(new_value);
	return SUCCESS;
}

static ZEND_INI_MH(on_virtual_time)
{
	spindle_settings.virtual_time = zend_ini_parse_bool(new_value);
	return SUCCESS;
}

static ZEND_INI_MH(on_syntax)
{
	spindle_settings.syntax = zend_ini_parse_bool(new_value);
	return SUCCESS;
}

static ZEND_INI_MH(on_cancel_warning)
{
	char *end;
	zend_long ms = ZEND_STRTOL(ZSTR_VAL(new_value), &end, 10);

	if (!ZSTR_LEN(new_value) || *end || ms < 1 || ms > 86400 * 1000) {
		zend_error(E_WARNING, "async.cancel_warning_ms must be between 1 and 86400000, \"%s\" given", ZSTR_VAL(new_value));
		return FAILURE;
	}
	spindle_settings.cancel_warning_ms = ms;
	return SUCCESS;
}

static ZEND_INI_MH(on_unawaited_warning)
{
	char *end;
	zend_long ms = ZEND_STRTOL(ZSTR_VAL(new_value), &end, 10);

	if (!ZSTR_LEN(new_value) || *end || ms < 1 || ms > 86400 * 1000) {
		zend_error(E_WARNING, "async.unawaited_warning_ms must be between 1 and 86400000, \"%s\" given", ZSTR_VAL(new_value));
		return FAILURE;
	}
	spindle_settings.unawaited_warning_ms = ms;
	return SUCCESS;
}

static ZEND_INI_MH(on_lifetime)
{
	static const char *const names[] = {"scope", "top-down", "bottom-up"};
	for (int i = 0; i < 3; i++) {
		if (!strcmp(ZSTR_VAL(new_value), names[i])) {
			spindle_settings.lifetime = i;
			return SUCCESS;
		}
	}
	zend_error(E_WARNING, "async.lifetime must be \"scope\", \"top-down\" or \"bottom-up\", \"%s\" given", ZSTR_VAL(new_value));
	return FAILURE;
}

static ZEND_INI_MH(on_zombie_timeout)
{
	const char *end = NULL;
	double seconds = zend_strtod(ZSTR_VAL(new_value), &end);

	if (!ZSTR_LEN(new_value) || *end || !(seconds >= 0 && seconds <= 86400)) {
		zend_error(E_WARNING, "async.zombie_coroutine_timeout must be between 0 and 86400 seconds, \"%s\" given", ZSTR_VAL(new_value));
		return FAILURE;
	}
	spindle_settings.zombie_timeout = seconds;
	return SUCCESS;
}

static ZEND_INI_MH(on_fiber_api)
{
	bool exclusive = zend_string_equals_literal(new_value, "exclusive");

	if (!exclusive && !zend_string_equals_literal(new_value, "coexist")) {
		zend_error(E_WARNING, "async.fiber_api must be \"coexist\" or \"exclusive\", \"%s\" given", ZSTR_VAL(new_value));
		return FAILURE;
	}
	spindle_settings.fibers_exclusive = exclusive;
	return SUCCESS;
}

/* The code that knows the Fiber of a coroutine. */
static ZEND_INI_MH(on_fiber_identity)
{
	spindle_settings.fiber_identity = new_value; /* the entry holds it */
	return SUCCESS;
}

PHP_INI_BEGIN()
	PHP_INI_ENTRY("async.fiber_identity", "Monolog, OpenTelemetry\\Context, Revolt\\EventLoop\\FiberLocal", PHP_INI_SYSTEM, on_fiber_identity)
	PHP_INI_ENTRY("async.fiber_api", "coexist", PHP_INI_SYSTEM, on_fiber_api)
	PHP_INI_ENTRY("async.stack_size", "0", PHP_INI_SYSTEM, on_stack_size)
	PHP_INI_ENTRY("async.seed", "0", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("async.interpose_exclude", "", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("async.block_warning_ms", "0", PHP_INI_SYSTEM, on_block_warning)
	PHP_INI_ENTRY("async.time_slice_ms", "0", PHP_INI_SYSTEM, on_time_slice)
	PHP_INI_ENTRY("async.block_log", "", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("async.file_pool", "default", PHP_INI_SYSTEM, on_file_pool)
	PHP_INI_ENTRY("async.dump_signal", "", PHP_INI_SYSTEM, on_dump_signal)
	STD_PHP_INI_BOOLEAN("async.diagnostics", "0", PHP_INI_ALL, on_diagnostics, diagnostics, spindle_ini, spindle_settings)
	STD_PHP_INI_BOOLEAN("async.virtual_time", "0", PHP_INI_SYSTEM, on_virtual_time, virtual_time, spindle_ini, spindle_settings)
	PHP_INI_ENTRY("async.cancel_warning_ms", "2000", PHP_INI_ALL, on_cancel_warning)
	PHP_INI_ENTRY("async.unawaited_warning_ms", "2000", PHP_INI_ALL, on_unawaited_warning)
	PHP_INI_ENTRY("async.lifetime", "scope", PHP_INI_SYSTEM, on_lifetime)
	PHP_INI_ENTRY("async.request_statics", "", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("async.zombie_coroutine_timeout", "2", PHP_INI_ALL, on_zombie_timeout)
	STD_PHP_INI_BOOLEAN("async.syntax", "1", PHP_INI_SYSTEM, on_syntax, syntax, spindle_ini, spindle_settings)
PHP_INI_END()

void spindle_register_classes(void)
{
	spindle_ce.awaitable = register_class_Async_Awaitable();
	spindle_ce.coroutine = register_class_Async_Coroutine(spindle_ce.awaitable);
	spindle_ce.timeout = register_class_Async_Timeout(spindle_ce.awaitable);
	spindle_ce.lifetime = register_class_Async_Lifetime();
	spindle_ce.scope = register_class_Async_Scope();
	spindle_ce.bounded_scope = register_class_Async_BoundedScope(spindle_ce.scope, spindle_ce.awaitable);
	spindle_ce.group = register_class_Async_CoroutineGroup(spindle_ce.awaitable);
	spindle_ce.context = register_class_Async_Context();
	spindle_ce.settled = register_class_Async_Settled();
	spindle_ce.key = register_class_Async_Key(zend_ce_stringable);
	spindle_ce.key->create_object = key_create;
	key_handlers = std_object_handlers;
	key_handlers.compare = zend_objects_not_comparable;
	spindle_ce.async_exception = register_class_Async_AsyncException(zend_ce_exception);
	spindle_ce.await_cancelled = register_class_Async_AwaitCancelledException(spindle_ce.async_exception);
	spindle_ce.timeout_exception = register_class_Async_TimeoutException(spindle_ce.await_cancelled);
	spindle_ce.context_exception = register_class_Async_ContextException(spindle_ce.async_exception);
	spindle_ce.channel_exception = register_class_Async_ChannelException(spindle_ce.async_exception);
	spindle_ce.cancellation = register_class_Async_CancellationException(zend_ce_exception);
	spindle_ce.composite = register_class_Async_CompositeException(zend_ce_exception);
	spindle_ce.deadlock = register_class_Async_DeadlockError(zend_ce_error);
	spindle_ce.call = register_class_Async_Syntax_Call();
	spindle_register_fibers();
	zend_register_class_alias("Async\\CancellationError", spindle_ce.cancellation);
	zend_register_class_alias("Async\\AsyncCancellation", spindle_ce.cancellation);
}

/* Awaitable can only be implemented by classes that the scheduler knows. */
static int on_implement_awaitable(zend_class_entry *interface, zend_class_entry *ce)
{
	if (ce->type == ZEND_USER_CLASS && !(ce->parent && instanceof_function(ce->parent, interface))) {
		zend_error_noreturn(E_ERROR, "Class %s cannot implement Async\\Awaitable", ZSTR_VAL(ce->name));
	}
	return SUCCESS;
}

static PHP_MINIT_FUNCTION(spindle)
{
	REGISTER_INI_ENTRIES();
	spindle_reserved_slot = zend_get_resource_handle("spindle");
	/* opcache's file cache contains rewritten code, which must not be used without this extension. */
	zend_add_system_entropy("spindle", "version", PHP_SPINDLE_VERSION, sizeof(PHP_SPINDLE_VERSION) - 1);
	zend_add_system_entropy("spindle", "syntax", &spindle_settings.syntax, sizeof(spindle_settings.syntax));
	zend_result result = spindle_minit(type, module_number);
	if (result == SUCCESS) {
		spindle_ce.awaitable->interface_gets_implemented = on_implement_awaitable;
	}
	return result;
}

static PHP_MSHUTDOWN_FUNCTION(spindle)
{
	zend_result result = spindle_mshutdown(type, module_number);
	UNREGISTER_INI_ENTRIES();
	return result;
}

static PHP_MINFO_FUNCTION(spindle)
{
	spindle_minfo(zend_module);
	DISPLAY_INI_ENTRIES();
}

/* Two extensions that each switch stacks below the engine would corrupt each other. */
static const zend_module_dep dependencies[] = {
	ZEND_MOD_CONFLICTS("swoole")
	ZEND_MOD_CONFLICTS("openswoole")
	ZEND_MOD_CONFLICTS("swow")
	/* Their classes are extended, and so have to be there first. */
	ZEND_MOD_OPTIONAL("pdo")
	ZEND_MOD_OPTIONAL("redis")
	ZEND_MOD_OPTIONAL("mysqli")
	ZEND_MOD_END
};

zend_module_entry spindle_module_entry = {
	STANDARD_MODULE_HEADER_EX, NULL, dependencies,
	"spindle", ext_functions,
	PHP_MINIT(spindle), PHP_MSHUTDOWN(spindle), spindle_rinit, spindle_rshutdown, PHP_MINFO(spindle),
	PHP_SPINDLE_VERSION, NO_MODULE_GLOBALS, spindle_post_deactivate, STANDARD_MODULE_PROPERTIES_EX
};
