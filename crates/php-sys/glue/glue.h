/* What the Rust side calls in C, and the Rust functions that C tables name. */
#ifndef SPINDLE_GLUE_H
#define SPINDLE_GLUE_H

#include "php.h"
#include "zend_fibers.h"

/* When an internal function may have flagged objects and arrays as being in use (see marks.c). */
typedef enum spindle_flags {
	SPINDLE_FLAGS_ALWAYS,
	SPINDLE_FLAGS_AROUND_CALLBACKS, /* while PHP code runs that it has called */
	SPINDLE_FLAGS_NEVER,
} spindle_flags;

/* What is known of an internal function; its address stands in the function's reserved slot. Of one that has none,
 * nothing is known. */
typedef struct spindle_call_info {
	zif_handler handler; /* the original, if it is trampolined */
	uint32_t kind;       /* `CallKind` in classify.rs */
	uint8_t flags;       /* spindle_flags */
	bool found;          /* in a table of an object: its copies share this */
} spindle_call_info;

/* What is taken off when a coroutine is left, and put back when it goes on; NULL: nothing. */
typedef struct spindle_marks spindle_marks;
/* In a frame's call info: there was nothing to take off from it down. Reserved for the JIT, which does not use it; each new
 * frame begins without it. A frame of a generator or a fiber may have others below when it goes on, and does not get it. */
#define SPINDLE_HAS_NOTHING (1u << 29)
void spindle_marks_leave(spindle_marks **marks);
void spindle_marks_leave_constants(void); /* while a class is loaded */
void spindle_marks_go_on(spindle_marks **marks);
void spindle_marks_forget(spindle_marks **marks);

/* A call of C code whose handles are locked while its coroutine is suspended. It lies on the C stack of the call. */
typedef struct spindle_call {
	struct spindle_call *outer;
	zend_execute_data *frame; /* the function's; NULL: no function was called, `key` is what it uses */
	uintptr_t key;
	uint32_t co;    /* the coroutine that has locks by it */
	bool is_marked; /* what it uses is locked, and so is what the outer ones use */
	bool has_locks; /* something is locked by it */
} spindle_call;

/* The innermost such call of the running coroutine. */
extern spindle_call *spindle_calls;

extern zend_module_entry spindle_module_entry;

/* The index of our slot in zend_internal_function.reserved. */
extern int spindle_reserved_slot;
/* Not 0: some handle is locked, so calls that use handles are checked before they begin. */
extern uint32_t spindle_check_before;
/* Not 0: something has to be thrown when the current internal function returns. */
extern uint32_t spindle_check_after;

typedef struct spindle_ini {
	zend_long stack_size;
	zend_long block_warning_ms;
	bool paths_on_workers;
	zend_long lifetime;    /* 0 scope, 1 top-down, 2 bottom-up */
	double zombie_timeout; /* seconds */
	int dump_signal;       /* 0: none */
	bool diagnostics;
	zend_long cancel_warning_ms;
	zend_long unawaited_warning_ms;
	bool syntax;
} spindle_ini;
extern spindle_ini spindle_settings;

/* Counts how deep the engine is in sections that signals must not interrupt; NULL where it has no such sections. */
const int *spindle_signals_held(void);
/* Returns true if user code, and not only the engine, handles this signal. */
bool spindle_signal_is_taken(int signal);

/* Calls function(argument) under a bailout frame of its own. false: it bailed out. */
bool spindle_guarded(void (*function)(void *), void *argument);
ZEND_COLD ZEND_NORETURN void spindle_bailout(void);

void spindle_trampoline(INTERNAL_FUNCTION_PARAMETERS);
void spindle_trampoline_holding(INTERNAL_FUNCTION_PARAMETERS);
void spindle_trampoline_fair(INTERNAL_FUNCTION_PARAMETERS);
void spindle_trampoline_linking(INTERNAL_FUNCTION_PARAMETERS);
void spindle_trampoline_fiber(INTERNAL_FUNCTION_PARAMETERS);

/* Arguments of spawn(): the callable, and what follows it. */
typedef struct spindle_spawn_args {
	zend_fcall_info fci;
	zend_fcall_info_cache fcc;
	zval *args;
	uint32_t argc;
	HashTable *named;
} spindle_spawn_args;
uint32_t spindle_parameters_of(zval *callable);

/* Arguments of the methods of slots: a key, of which one is NULL, and for set() what follows it. */
typedef struct spindle_slot_args {
	zend_string *name;
	zend_object *object;
	zval *value;
	bool replace;
} spindle_slot_args;

/* Small macros of the engine, as functions. */
void spindle_zval_dtor(zval value);
void spindle_object_begin(zend_object *object, zend_class_entry *ce, const zend_object_handlers *handlers);
void spindle_object_release(zend_object *object);
void spindle_object_skip_destructor(zend_object *object);
zval *spindle_object_property(zend_object *object, uint32_t place);
zend_class_entry *spindle_class_declare(const char *name, size_t length, const zend_function_entry *methods);
void spindle_class_set_create(zend_class_entry *ce, zend_object *(*create)(zend_class_entry *));
/* The cycle collector's buffer: adds a value if it counts references, hands the buffer over. */
void spindle_gc_add(zend_get_gc_buffer *buffer, zval *value);
HashTable *spindle_gc_use(zend_get_gc_buffer *buffer, zend_object *object, zval **table, int *count);
bool spindle_call_closure(zval *closure, zval *result, uint32_t argc, zval *argv);
/* A lasting one outlives the request. */
zend_string *spindle_string_new(const char *text, size_t length, bool is_lasting);
void spindle_string_release(zend_string *string);
void spindle_print(const zend_string *text);
void spindle_warning_at(zend_string *file, uint32_t line, const char *text);
void spindle_warning_here(zend_string *file, uint32_t line, const char *text);
void spindle_report_at(const char *file, uint32_t line, const char *text, int reporting);
void spindle_stack_clean(zend_stack *stack, bool zvals);
void spindle_fatal(const char *text);
void spindle_core_warning(const char *text);
bool spindle_vm_interrupt_take(void);
/* Where the engine's stack of frames stands. */
typedef struct {
	zend_vm_stack stack;
	zval *top, *end;
	size_t page_size;
} spindle_vm_stack;
spindle_vm_stack spindle_running_vm_stack(void);
/* What runs in these frames is never resumed: generators that do are left alone by whoever destroys objects. */
void spindle_abandon(zend_execute_data *frame);
/* The frames above the script's own are gone, by a bailout: it ends as by `exit`, when it returns. */
void spindle_exits_here(zend_execute_data *script, const spindle_vm_stack *stack);
/* What runs ends as by `exit`. */
void spindle_exits(void);
/* Calls `each` with the file of everything that was loaded by `zend_extension`. */
void spindle_each_engine_extension(void (*each)(void *with, const char *file), void *with);
void spindle_vm_interrupt_set(void);
void spindle_hash_destroy_free(HashTable *table);

/* --- output buffers: those that were there before any code are the request's, and stay for whichever coroutine runs --- */

/* No code has run yet, and what handlers there are, are the request's; or, without them, none are. */
void spindle_output_begin(bool with_handlers);
/* Returns true if the request has begun with handlers of its own. */
bool spindle_output_is_shared(void);
/* Returns true if there are others. */
bool spindle_output_has_own(void);
/* Moves the others into `own`. */
void spindle_output_take(zend_stack *own);
/* Puts other handlers on top of those there are, and leaves none in `handlers`. */
void spindle_output_adopt(zend_stack *handlers);
/* Ends all but the request's. */
void spindle_output_end_own(void);

zend_object *spindle_exception_new(zend_class_entry *ce, const char *message);
void spindle_throw(zend_object *exception);
void spindle_throw_error(const char *message);
void spindle_argument_error(uint32_t number, bool is_type, const char *message);
zend_object *spindle_exception_apart(zend_class_entry *ce, const char *message);
bool spindle_passes_unchanged(zend_execute_data *frame);
zend_object *spindle_exception_copy(zend_object *exception);
uint32_t spindle_exception_position(zend_object *exception, zend_string **file);
void spindle_exception_set_position(zend_object *exception, zend_string *file, uint32_t line);
zend_string *spindle_exception_message(zend_object *exception);
zend_object *spindle_exception_previous(zend_object *exception);
void spindle_exception_replace_previous(zend_object *exception, zend_object *previous);
void spindle_report_uncaught(zend_object *exception, const char *more);
zend_execute_data *spindle_user_frame(zend_execute_data *from);
uint32_t spindle_user_position(zend_execute_data *from, zend_string **file);
/* Tells observers that this new context goes on in place of the one that runs, as a fiber that is started at this place, or,
 * without a file, at the one that runs. */
void spindle_fiber_begins(zend_fiber_context *context, zend_string *file, uint32_t line);
void spindle_backtrace(zval *result, zend_execute_data *from, int options, int limit);

/* Reading and writing at once on an encrypted stream: ext/openssl takes it out of blocking mode for each call that waits, and
 * remembers in the stream whether it was blocking. A call that begins while another one is in progress is to find it as
 * that one has found it; one that ends is to leave it as the other one needs it. The stream is the call's first argument. */
bool spindle_tls_begins(zend_execute_data *execute_data); /* false: it is no encrypted stream */
void spindle_tls_ends(zend_execute_data *execute_data);

/* Lists of persistent connections: see persistent.rs. */
void spindle_list_show(const char *shown, const char *hidden, const char *any);
void spindle_list_drop(const char *mark);

/* Tables of values, and those whose keys are objects that are held weakly: see slots.rs. */
HashTable *spindle_table_new(void);
/* The value in one of the places that have been used, NULL behind the last one; undefined where an entry was removed. */
zval *spindle_table_bucket(HashTable *table, uint32_t index);
zval *spindle_table_find(const HashTable *table, zend_string *key);
zval *spindle_weak_find(const HashTable *table, const zend_object *key);
void spindle_weak_destroy(HashTable *table);
void spindle_weak_target(zend_object *reference, zval *result);

/* Classes, filled at module start. */
typedef struct spindle_classes {
	zend_class_entry *awaitable, *coroutine, *timeout, *lifetime, *scope, *bounded_scope, *group, *context, *key;
	zend_class_entry *async_exception, *await_cancelled, *timeout_exception, *context_exception, *channel_exception;
	zend_class_entry *cancellation, *composite, *deadlock, *call;
} spindle_classes;
extern spindle_classes spindle_ce;
void spindle_register_classes(void);

/* Rust: module life, object handlers, and the slow halves of the trampolines. */
zend_result spindle_minit(int type, int module_number);
zend_result spindle_mshutdown(int type, int module_number);
zend_result spindle_rinit(int type, int module_number);
zend_result spindle_rshutdown(int type, int module_number);
zend_result spindle_post_deactivate(void);
void spindle_minfo(zend_module_entry *module);
/* What becomes of a call that was checked. */
typedef enum spindle_before {
	SPINDLE_CALL_MADE,       /* it is made */
	SPINDLE_CALL_HAS_THROWN, /* it is not made: something was thrown */
	SPINDLE_CALL_HAS_CLOSED, /* it has nothing to do, for another one has closed the handle */
	SPINDLE_CALL_IS_RUNNING, /* it answers that nothing is ready, for another one is in progress */
} spindle_before;
spindle_before spindle_before_call(spindle_call *call);
void spindle_release_locks(spindle_call *call);
void spindle_after_call(zend_execute_data *execute_data);
void spindle_fiber_suspends(void);
void spindle_call_was_fair(void);
void spindle_call_made(zend_execute_data *execute_data, zval *result);

/* --- the end of a request: request_end.c --- */

/* Has spindle_request_ends() called when the request ends, before its shutdown functions. Once in a request, before that. */
void spindle_watch_request_end(void);
void spindle_request_ends(void);

/* --- the operators: syntax.c --- */

/* Returns true if files are translated as they are read (zend.multibyte), from encodings in which a byte that PHP's syntax uses can
 * be half of another character. Such files are not rewritten. */
bool spindle_files_are_recoded(void);
/* Reads a whole file, as the compiler would. false: it cannot be read, and the compiler is the one to say so. */
bool spindle_file_source(zend_file_handle *file, const char **text, size_t *length);
/* Room for the text of a file. */
char *spindle_file_room(size_t length);
/* The compiler gets what stands in this room in place of the file's text. */
void spindle_file_replace(zend_file_handle *file, char *text, size_t length);
/* What is compiled next has so many bytes more than the source: its __COMPILER_HALT_OFFSET__ is less. */
void spindle_source_has_grown(size_t bytes);
/* As the compiler would throw it. */
void spindle_parse_error(zend_string *file, uint32_t line, const char *message);
/* The callee itself, or what the closure `of` (or NULL) makes of it. false: it was no closure, something was
 * thrown; what it was is the caller's all the same. */
bool spindle_closure_of(zval *callee, zval *of, zval *closure);
/* What a closure calls. */
void spindle_resolve_closure(zend_object *closure, zend_class_entry **scope, zend_function **function, zend_object **object);
/* For what a closure of a method that does not exist calls: __call() or __callStatic() of its class; else NULL. */
zend_function *spindle_magic_method(const zend_function *function);
/* What such a method gets, as two values: the name, and an array of the arguments of a call of an internal function. */
void spindle_magic_arguments(zval *to, zend_string *name, zend_execute_data *call, HashTable *named);
/* Makes `proxy` take arguments as a function does. */
void spindle_proxy_of(zend_internal_function *proxy, const zend_function *function);

#endif
