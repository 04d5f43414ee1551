/* Declarations of the C functions that Rust calls, and of the Rust functions that tables in C contain. */
#ifndef SPINDLE_GLUE_H
#define SPINDLE_GLUE_H

#include "php.h"
#include "zend_fibers.h"

/* All that follows is in this module: C code reaches it without a look-up of its address. Bindings are not generated for what is
 * hidden. */
#ifdef SPINDLE_C_CODE
# pragma GCC visibility push(hidden)
#endif

/* What EG(bailout) points to: jmp_buf or sigjmp_buf, as PHP was configured. */
typedef JMP_BUF spindle_jmp_buf;

/* When an internal function may have marked objects and arrays as in use (see marks.c). */
typedef enum spindle_flags {
	SPINDLE_FLAGS_ALWAYS,
	SPINDLE_FLAGS_AROUND_CALLBACKS, /* while PHP code that it has called runs */
	SPINDLE_FLAGS_NEVER,
} spindle_flags;

/* Data about an internal function. Its address is in the function's reserved slot; if the slot is empty, nothing is
 * known. */
typedef struct spindle_call_info {
	zif_handler handler; /* the original, if it is trampolined */
	uint32_t kind;       /* `CallKind` in classify.rs */
	uint8_t flags;       /* spindle_flags */
	bool found;          /* found in a table of an object: its copies share this */
} spindle_call_info;

/* Marks that were removed when a coroutine was suspended, to be set again when it is resumed; NULL: none. */
typedef struct spindle_marks spindle_marks;
/* In a frame's call info: this frame and those below it had no marks to remove. The bit is reserved for the JIT,
 * which does not use it; each new frame begins without it. A frame of a generator or a fiber may have others below
 * it when it is resumed, and does not get it. */
#define SPINDLE_HAS_NO_MARKS (1u << 29)
void spindle_marks_remove(spindle_marks **marks);
void spindle_marks_remove_constants(void); /* while a class is loaded */
void spindle_marks_restore(spindle_marks **marks);
void spindle_marks_forget(spindle_marks **marks);

#ifdef SPINDLE_LAZY_OBJECTS
/* The part of an object that is put aside while the coroutine that initializes it is suspended (see lazy.c). */
typedef struct spindle_lazy {
	zval *values;
	HashTable *properties;
	const zend_object_handlers *handlers;
} spindle_lazy;
void spindle_lazy_install(void);
bool spindle_lazy_is_initializing(zend_object *object);
bool spindle_lazy_is_hidden(const zend_object *object);
/* Calls `found` for each object that is being initialized and is not hidden. */
void spindle_lazy_find(void *list, void (*found)(void *list, zend_object *object));
int spindle_lazy_compare(zval *one, zval *other);
void spindle_lazy_hide(zend_object *object, spindle_lazy *lazy);
void spindle_lazy_show(zend_object *object, spindle_lazy *lazy);
/* Waits while another coroutine initializes the object. Returns false if it was left with an exception. */
bool spindle_lazy_wait(zend_object *object);
#endif

/* Has objects of a class say, where code uses one in place of its result, that it has to be awaited (see results.c). */
void spindle_stand_for_result(zend_object_handlers *handlers);

/* A call of C code whose handles are locked while its coroutine is suspended. It is on the C stack of the call. */
typedef struct spindle_call {
	struct spindle_call *outer;
	zend_execute_data *frame; /* the function's; NULL: no function was called, and `key` is what it uses */
	uintptr_t key;
	uint32_t co;    /* the coroutine that holds locks for it */
	bool is_marked; /* the locks of this call and of all outer ones have been taken */
	bool has_locks; /* something is locked for it */
} spindle_call;

/* The innermost one of the running coroutine. */
extern spindle_call *spindle_calls;

extern zend_module_entry spindle_module_entry;

/* The index of this extension's slot in zend_internal_function.reserved. */
extern int spindle_reserved_slot;
/* Not 0 if any handle is locked: calls that use handles are checked before they begin. */
extern uint32_t spindle_check_before;
/* Not 0 if an exception has to be thrown, or the coroutine has to yield, when the current internal function returns. */
extern uint32_t spindle_check_after;
/* How many calls have not waited since the coroutine was last suspended. */
extern uint32_t spindle_calls_without_park;
/* How many such calls a coroutine makes before it polls for events. */
#define SPINDLE_CALLS_PER_POLL 32

typedef struct spindle_ini {
	zend_long stack_size;
	zend_long block_warning_ms;
	zend_long time_slice_ms;
	bool paths_on_workers;
	zend_long lifetime;    /* 0 scope, 1 top-down, 2 bottom-up */
	double zombie_timeout; /* seconds */
	int dump_signal;       /* 0: none */
	bool diagnostics;
	bool virtual_time;
	zend_long cancel_warning_ms;
	zend_long unawaited_warning_ms;
	bool syntax;
	bool fibers_exclusive;
	zend_string *fiber_identity; /* NULL before the settings are registered */
} spindle_ini;
extern spindle_ini spindle_settings;

/* Returns the counter of nested sections of the engine that signals must not interrupt; NULL if there is none. */
const int *spindle_signals_held(void);
/* Returns true if user code, and not only the engine, handles this signal. */
bool spindle_signal_is_taken(int signal);

/* Calls function(argument) with a bailout target of its own. Returns false if it bailed out. */
bool spindle_guarded(void (*function)(void *), void *argument);
ZEND_COLD ZEND_NORETURN void spindle_bailout(void);

void spindle_trampoline(INTERNAL_FUNCTION_PARAMETERS);
void spindle_trampoline_holding(INTERNAL_FUNCTION_PARAMETERS);
void spindle_trampoline_fair(INTERNAL_FUNCTION_PARAMETERS);
void spindle_trampoline_linking(INTERNAL_FUNCTION_PARAMETERS);

uint32_t spindle_parameters_of(zval *callable);

/* Small macros of the engine, as functions. */
void spindle_zval_dtor(zval value);
void spindle_object_begin(zend_object *object, zend_class_entry *ce, const zend_object_handlers *handlers);
void spindle_object_release(zend_object *object);
void spindle_object_skip_destructor(zend_object *object);
void spindle_object_revive(zend_object *object);
void spindle_object_abandon(zend_object *object);
bool spindle_object_is_destructed(const zend_object *object);
bool spindle_object_is_referenced_weakly(const zend_object *object);
zval *spindle_object_property(zend_object *object, uint32_t place);
zend_class_entry *spindle_class_declare(const char *name, size_t length, const zend_function_entry *methods);
zend_class_entry *spindle_class_declare_extending(
	const char *name, size_t length, const zend_function_entry *methods, zend_class_entry *parent);
typedef bool (*spindle_forwarded_property)(zend_object *object, zend_string *name, zval *room);
void spindle_class_create_as_base(zend_class_entry *ce);
void spindle_class_forward_properties(zend_class_entry *ce, spindle_forwarded_property property);
void spindle_class_declare_readonly(zend_class_entry *ce, const char *name, size_t length, const char *class);
void spindle_parameter_set_sensitive(zend_function *function, uint32_t index);
void spindle_class_set_get_iterator(
	zend_class_entry *ce, zend_object_iterator *(*get)(zend_class_entry *, zval *, int));
zend_object_iterator *spindle_iterator_make(zend_object *state, const zend_object_iterator_funcs *funcs);
void spindle_class_set_create(zend_class_entry *ce, zend_object *(*create)(zend_class_entry *));
/* The cycle collector's buffer: adds a value if it is refcounted, passes the buffer on. */
void spindle_gc_add(zend_get_gc_buffer *buffer, zval *value);
HashTable *spindle_gc_use(zend_get_gc_buffer *buffer, zend_object *object, zval **table, int *count);
bool spindle_takes_references(const zend_function *function, uint32_t count);
bool spindle_call_closure(zval *closure, zval *result, uint32_t argc, zval *argv);
/* Binds this module's calls of malloc() and its relatives to those of the process. Nothing may be allocated yet. */
void spindle_take_allocator(void);
/* Returns a new string. A lasting one outlives the request. */
zend_string *spindle_string_new(const char *text, size_t length, bool is_lasting);
zend_string *spindle_string_intern(const char *text, size_t length);
void spindle_string_release(zend_string *string);
void spindle_print(const zend_string *text);
void spindle_warning_at(zend_string *file, uint32_t line, const char *text);
void spindle_warning_here(zend_string *file, uint32_t line, const char *text);
void spindle_report_at(const char *file, uint32_t line, const char *text, int reporting);
void spindle_stack_clean(zend_stack *stack, bool zvals);
void spindle_fatal(const char *text);
void spindle_core_warning(const char *text);
bool spindle_vm_interrupt_take(void);
bool spindle_is_innermost(const zend_execute_data *frame);
/* A position of the engine's stack of frames. */
typedef struct {
	zend_vm_stack stack;
	zval *top, *end;
	size_t page_size;
} spindle_vm_stack;
spindle_vm_stack spindle_running_vm_stack(void);
/* Marks the code of these frames as never resumed: generators that run there are not destroyed with their objects. */
void spindle_abandon(zend_execute_data *frame);
/* Makes the script end as by `exit` when it returns, after a bailout that has dropped the frames above its own. */
void spindle_exits_here(zend_execute_data *script, const spindle_vm_stack *stack);
/* Ends the running code as by `exit`. */
void spindle_exits(void);
/* Calls `each` with the file of each extension that was loaded by `zend_extension`. */
bool spindle_base_frame_enter(void);
void spindle_base_frame_leave(void);
void spindle_each_engine_extension(void (*each)(void *with, const char *file), void *with);
/* Returns how calls are observed: 1 if the executor at this address is not the engine's, 2 if calls of internal functions are
 * replaced, 4 if there are observers of functions. */
uint32_t spindle_call_observers(uintptr_t executor);
void spindle_vm_interrupt_set(void);
void spindle_hash_destroy_free(HashTable *table);
bool spindle_table_is_uncounted(const HashTable *table);
HashTable *spindle_table_copy_uncounted(const HashTable *table);
void spindle_table_add_text(HashTable *table, zend_string *key, const char *text, size_t length);

/* --- output buffers: those that exist before any code has run are the request's, and shared by all coroutines --- */

/* Makes the present handlers the request's, before any code has run; none of them if `with_handlers` is false. */
void spindle_output_begin(bool with_handlers);
/* Returns true if the request has begun with handlers of its own. */
bool spindle_output_is_shared(void);
/* Returns true if there are handlers other than the request's. */
bool spindle_output_has_own(void);
/* Moves these into `own`. */
void spindle_output_take(zend_stack *own);
/* Moves handlers on top of the present ones, and leaves none in `handlers`. */
void spindle_output_adopt(zend_stack *handlers);
/* Ends all handlers but the request's. */
void spindle_output_end_own(void);

zend_object *spindle_exception_new(zend_class_entry *ce, const char *message);
void spindle_throw(zend_object *exception);
/* The exception in flight was thrown between two instructions of this frame: makes that safe, and frees what the second one would have. */
void spindle_thrown_between(zend_execute_data *frame);
void spindle_throw_error(const char *message);
void spindle_argument_error(uint32_t number, bool is_type, const char *message);
zend_object *spindle_exception_apart(zend_class_entry *ce, const char *message);
bool spindle_cleans_up(zend_execute_data *frame);
bool spindle_passes_unchanged(zend_execute_data *frame);
zend_object *spindle_exception_copy(zend_object *exception);
uint32_t spindle_exception_position(zend_object *exception, zend_string **file);
void spindle_exception_set_position(zend_object *exception, zend_string *file, uint32_t line);
zend_string *spindle_exception_message(zend_object *exception);
zend_object *spindle_exception_previous(zend_object *exception);
void spindle_exception_replace_previous(zend_object *exception, zend_object *previous);
bool spindle_call_exception_handler(zend_object *exception);
void spindle_report_uncaught(zend_object *exception, const char *more);
zend_execute_data *spindle_user_frame(zend_execute_data *from);
bool spindle_closure_resolve(zval *callable, zend_fcall_info_cache *call);
/* Announces to observers that this new context runs in place of the running one, as a fiber that is started at this
 * position, or, without a file, at that of the running code. */
void spindle_fiber_begins(zend_fiber_context *context, zend_string *file, uint32_t line);
void spindle_backtrace(zval *result, zend_execute_data *from, int options, int limit);

/* Concurrent reads and writes on an encrypted stream. ext/openssl switches the socket to non-blocking mode for each
 * call that waits, and stores in the stream whether it was blocking. A call that begins while another one is in
 * progress has to find the same mode as that one did; a call that ends has to leave the mode that the other one
 * needs. The stream is the call's first argument. */
bool spindle_tls_begins(zend_execute_data *execute_data); /* returns false if it is no encrypted stream */
void spindle_tls_ends(zend_execute_data *execute_data);

/* Streams that calls use without having them as arguments; NULL: it is no filter, or there are no more. */
zend_resource *spindle_stream_of_filter(zend_resource *filter);
zend_resource *spindle_stream_within(zend_object *object, uint32_t number);

/* Lists of persistent connections: see persistent.rs. */
void spindle_list_show(const char *shown, const char *hidden, const char *any);
void spindle_list_drop(const char *mark);

/* Tables of values, also with weakly held objects as keys: see keyed_values.rs. */
HashTable *spindle_table_new(void);
/* Returns the value at an index that has been used, NULL after the last one. It is undefined if the entry was
 * removed. */
zval *spindle_table_bucket(HashTable *table, uint32_t index);
enum { SPINDLE_TABLE_IS_PACKED = HASH_FLAG_PACKED };
void spindle_table_fill(HashTable *table, const zval *values, uint32_t count);
zval *spindle_table_next(HashTable *table, uint32_t *position, zval *key);
zval *spindle_table_find(const HashTable *table, zend_string *key);
zval *spindle_weak_find(const HashTable *table, const zend_object *key);
void spindle_weak_destroy(HashTable *table);
void spindle_weak_target(zend_object *reference, zval *result);

/* Classes, filled at module start. */
typedef struct spindle_classes {
	zend_class_entry *awaitable, *coroutine, *timeout, *lifetime, *scope, *bounded_scope, *group, *context, *key;
	zend_class_entry *async_exception, *await_cancelled, *timeout_exception, *context_exception, *channel_exception;
	zend_class_entry *cancellation, *composite, *deadlock, *call, *settled;
} spindle_classes;
extern spindle_classes spindle_ce;
void spindle_register_classes(void);

/* The Fibers draft (fibers.c). */
enum { SPINDLE_DRAFT_INIT, SPINDLE_DRAFT_RUNNING, SPINDLE_DRAFT_SUSPENDED, SPINDLE_DRAFT_ENDED };
extern zend_class_entry *spindle_fiber_scheduler, *spindle_fiber_exit, *spindle_fiber_error;
void spindle_register_fibers(void);
void spindle_throw_graceful_exit(void);
zend_object *spindle_draft_make(zval *callable);
zval *spindle_draft_callable(zend_object *fiber);
bool spindle_fiber_may_begin(void);
void spindle_draft_destroyed(zend_object *fiber);
void spindle_draft_freed(zend_object *fiber);
uint32_t spindle_draft_status(const zend_object *fiber);
bool spindle_draft_is_coroutine(const zend_object *fiber);
zend_execute_data *spindle_draft_frame(const zend_object *fiber);
zend_object *spindle_draft_of_scheduler(const zend_object *scheduler);
zend_object *spindle_draft_scheduler_of(const zend_object *fiber);
ZEND_NAMED_FUNCTION(spindle_draft_create);
ZEND_NAMED_FUNCTION(spindle_draft_start);
ZEND_NAMED_FUNCTION(spindle_draft_resume);
ZEND_NAMED_FUNCTION(spindle_draft_throw);
ZEND_NAMED_FUNCTION(spindle_draft_suspend);
bool spindle_has_identity(const zend_execute_data *call);
ZEND_NAMED_FUNCTION(spindle_identity);
ZEND_NAMED_FUNCTION(spindle_identity_suspend);

/* Implemented in Rust: start and end of the module and of requests, object handlers, and the slow paths of the
 * trampolines. */
zend_result spindle_minit(int type, int module_number);
zend_result spindle_mshutdown(int type, int module_number);
zend_result spindle_rinit(int type, int module_number);
zend_result spindle_rshutdown(int type, int module_number);
zend_result spindle_post_deactivate(void);
void spindle_minfo(zend_module_entry *module);
/* How a trampoline continues after the check of a call. */
typedef enum spindle_before {
	SPINDLE_CALL_MADE,       /* the call is made */
	SPINDLE_CALL_HAS_THROWN, /* it is not made: an exception was thrown */
	SPINDLE_CALL_HAS_CLOSED, /* it has nothing to do: another call has closed the handle */
	SPINDLE_CALL_IS_RUNNING, /* it returns that nothing is ready: another call is in progress */
} spindle_before;
spindle_before spindle_before_call(spindle_call *call);
void spindle_release_locks(spindle_call *call);
void spindle_after_call(zend_execute_data *execute_data);
void spindle_fiber_suspends(void);
void spindle_poll_is_due(void);
void spindle_call_made(zend_execute_data *execute_data, zval *result);
void spindle_has_no_elements(const zend_object *object);
void spindle_is_empty_in_json(const zend_object *object);

/* --- the end of a request: request_end.c --- */

/* Makes the engine call spindle_request_ends() at the end of the request, before its shutdown functions. To be
 * called once per request. */
void spindle_watch_request_end(void);
void spindle_request_ends(void);

/* Adds functions to the engine's table, but for those whose names it has, until they are removed. The table of them ends with an entry
 * without a name. Compiled code may keep pointers to them, which are valid until the end of PHP's request. */
void spindle_functions_add(const zend_function_entry *functions);
void spindle_functions_remove(void);

/* Returns true for a handler that is put in front of a function's trampoline: surroundings.c. */
bool spindle_is_in_front(zif_handler handler);
/* Returns the connection that functions of ext/pgsql use where code does not say which; NULL: there is none, or it is not known. */
zend_object *spindle_pgsql_link(void);

/* --- instances of an application: instances.c --- */

/* An object is being freed: its number is the running instance's then. */
void spindle_object_freed(const zend_object *object);

typedef struct spindle_instance spindle_instance;
/* Remembers the statics and global variables of the script, with which instances begin. To be called while no instance runs. */
spindle_instance *spindle_instances_prepare(void);
/* Prepares the closures that a value leads to, which the script has made since, so that instances can call them. To be called while no
 * instance runs. Returns what kind of suspended code it leads to, which no instance can run; NULL: none. */
const char *spindle_instances_remember(zval *value);
/* Returns the names of the static properties with objects that all instances would share; NULL: there are none. */
zend_string *spindle_instances_shared(void);
/* Returns an instance that is empty. The script has the number 0, and each instance another one. */
spindle_instance *spindle_instance_new(uint16_t number, spindle_instance *begins_with);
/* Gives an empty instance what each begins with. */
void spindle_instance_begin(spindle_instance *);
/* Makes it the running one; NULL: that of the script. */
void spindle_instance_enter(spindle_instance *to);
/* The same for a request that runs there; what another one has left in the global variables is still there. */
void spindle_instance_switch(spindle_instance *to);
/* Returns the running one; NULL: that of the script. */
spindle_instance *spindle_instance_running(void);
/* Calls the destructors of the objects that the running instance has made. */
void spindle_instance_call_destructors(void);
/* Empties the running instance. */
void spindle_instance_free(void);
/* Whether code of the running instance has registered autoloaders. */
bool spindle_instance_has_autoloaders(void);
/* Returns true if those of the process are not called for the running one, but for those that it has among its own. */
bool spindle_instance_has_all_autoloaders(void);
/* Asks those that come before the process's, or after them, for a class. Returns NULL if there is none then. */
zend_class_entry *spindle_instance_autoload(bool is_first, zend_string *name, zend_string *lower);
/* Collects cycles: destructors run in the instances of their objects. */
int spindle_instances_collect(int (*collect)(void));
/* A bailout was caught in code of this instance. */
void spindle_instances_survive(spindle_instance *of);
/* Calls the destructors of all instances, before the engine calls those of all objects as those of the script. */
void spindle_instances_call_destructors(void);
/* Ends and forgets all instances. */
void spindle_instances_end(void);
/* The process is the child of a fork: the destructors of other instances' objects are its parent's. */
void spindle_instances_forked(void);

/* --- native PHP requests in coroutines: sapi.c --- */

/* The output handlers with which a request has begun. */
typedef struct spindle_request_handlers {
	struct {
		struct _php_output_handler *handler;
		bool is_default;
	} all[4];
	int count;
} spindle_request_handlers;
/* Returns those of the running request in `present`, and sets others. */
void spindle_output_request_handlers(spindle_request_handlers *present, const spindle_request_handlers *others);

typedef struct spindle_sapi spindle_sapi;
/* The head of a request. The texts stay until it has ended; NULL: there is none. */
typedef struct spindle_sapi_head {
	const char *method, *uri, *query, *content_type, *cookies, *authorization;
	zend_long content_length;
	int protocol; /* 1000: HTTP/1.0 */
} spindle_sapi_head;
/* To be called before the first request. */
bool spindle_sapi_prepare(void);
/* Makes a static property one that each request has for itself. Returns false if there is no such property; an exception may be in
 * flight then. */
bool spindle_sapi_add_static(zend_string *class_name, zend_string *property);
void spindle_sapi_forget_statics(void);
void spindle_sapi_abandon(void);
/* Returns a request that has not begun. It begins with the handlers and variables that `base` has then; NULL: the process's. */
spindle_sapi *spindle_sapi_new(spindle_instance *instance, spindle_sapi *base);
/* Puts the state of the running request aside, and restores that of another one; NULL: the process's own. That of a request whose
 * values were released is not kept. */
void spindle_sapi_switch(spindle_sapi *from, spindle_sapi *to, bool is_released);
/* The next ones concern the running request, in this order. */
/* `server`: the variables; NULL: the process's. */
void spindle_sapi_begin(const spindle_sapi_head *head, zval *server, zend_long buffer);
void spindle_sapi_boot_ended(void);
void spindle_sapi_call_shutdown_functions(void);
void spindle_sapi_close_session(void);
/* Closes the session that was started without its data being written, if there is one. */
void spindle_sapi_abort_session(void);
void spindle_sapi_end_buffers(void);
void spindle_sapi_end_output(void);
void spindle_sapi_end(void);
void spindle_sapi_release(void);
void spindle_sapi_free(spindle_sapi *of);
void spindle_sapi_superglobals_aside(spindle_sapi *of); /* its instance runs for another reason */
void spindle_sapi_superglobals_end(spindle_sapi *of); /* with the variables of its instance, in which they lie */
void spindle_sapi_aborted(spindle_sapi *of);
bool spindle_sapi_output_failed(void); /* returns whether the script is to end */
bool spindle_sapi_set_status(int status);
int spindle_sapi_status(void);
const char *spindle_sapi_status_line(void);
bool spindle_sapi_is_in_child(void);
int spindle_sapi_exit_status(void);
void spindle_sapi_set_own_exit_status(int status);
void spindle_sapi_server(zval *server);
/* To be called while no request runs. */
void spindle_sapi_server_text(const char *name, zval *text);
void spindle_sapi_send_headers(void);
void spindle_sapi_exception_handler(zval *handler);
void spindle_sapi_uncaught(zend_object *exception);
/* `take`: whether it has passed the message on, changed. */
void spindle_error_log_watch(bool (*take)(const char *message, int severity));
void spindle_error_log_watch_no_more(void);
void spindle_error_log_pass(const char *line, int severity);
void spindle_error_log(const char *line, int severity);
enum { SPINDLE_TIME = 32 };
void spindle_error_log_time(char text[SPINDLE_TIME]);
zend_long spindle_time_limit(void);
void spindle_time_limit_watch(bool (*set)(zend_long seconds)); /* returns whether the limit concerns only the running code */
void spindle_time_limit_watch_no_more(bool begins);
void spindle_time_limit_restore(void);
void spindle_time_is_over(zend_string *error);
void spindle_sapi_each_header(void (*each)(void *with, const char *text, size_t length), void *with);
/* `php_alone`: whether PHP code alone has called the function that runs. */
void spindle_sapi_watch_errors(bool (*survived)(void), bool (*php_alone)(void));
void spindle_sapi_watch_no_errors(void);
/* Returns whether the last fatal error that has ended code of a request is one that PHP code has asked for. */
bool spindle_sapi_fatal_was_asked_for(void);
void spindle_sapi_survive(zend_execute_data *frame, const spindle_vm_stack *stack);

/* --- the operators: syntax.c --- */

/* Returns true if files are converted when they are read (zend.multibyte), from encodings in which a byte that PHP's
 * syntax uses can be half of another character. Such files are not rewritten. */
bool spindle_files_are_recoded(void);
/* Reads a whole file as the compiler would. Returns false if it cannot be read; the compiler reports that. */
bool spindle_file_source(zend_file_handle *file, const char **text, size_t *length);
/* Allocates room for the text of a file. */
char *spindle_file_room(size_t length);
/* Makes the compiler read the text in this room instead of the file's. */
void spindle_file_replace(zend_file_handle *file, char *text, size_t length);
/* Sets how many bytes the next compiled text is longer than its source: its __COMPILER_HALT_OFFSET__ is reduced by
 * that. */
void spindle_source_has_grown(size_t bytes);
/* Throws a ParseError as the compiler does. */
void spindle_parse_error(zend_string *file, uint32_t line, const char *message);
/* Returns in `closure` the callee, or the result of calling `of` (or NULL) with it. Returns false if that is no
 * closure, after throwing; the caller releases it in any case. */
bool spindle_closure_of(zval *callee, zval *of, zval *closure);
/* Returns the target of a closure. */
void spindle_resolve_closure(zend_object *closure, zend_class_entry **scope, zend_function **function, zend_object **object);
/* Returns the class's __call() or __callStatic() if this is the function of a closure of a nonexistent method; else
 * NULL. */
zend_function *spindle_magic_method(const zend_function *function);
/* Returns the two arguments for such a method: the name, and an array of the arguments of a call of an internal
 * function. */
void spindle_magic_arguments(zval *to, zend_string *name, zend_execute_data *call, HashTable *named);
/* Makes `proxy` take arguments as `function` does. */
void spindle_proxy_of(zend_internal_function *proxy, const zend_function *function);

/* The instruction at which the innermost frame continues, if it is a frame of PHP code. */
typedef struct spindle_position {
	zend_execute_data *frame;
	const zend_op *opline;
} spindle_position;
void spindle_enter_frame(void);
void spindle_position_save(spindle_position *position);
void spindle_position_restore(const spindle_position *position);

/* generators.c */
typedef enum spindle_generator_state {
	SPINDLE_GENERATOR_YIELDED,  /* the result is what it has yielded */
	SPINDLE_GENERATOR_RETURNED, /* the result is what it has returned */
	SPINDLE_GENERATOR_ENDED,    /* it has thrown, which is in flight, or had ended by an exception before */
	SPINDLE_GENERATOR_RUNNING,  /* it was not resumed, because its code runs, or that of one that it delegates to */
} spindle_generator_state;
bool spindle_generator_is_running(zend_object *object);
/* Resumes a generator by the value of its `yield`; undefined, runs it to its first `yield` unless it has begun. */
spindle_generator_state spindle_generator_resume(zend_object *object, zval *value, zval *result);
spindle_generator_state spindle_generator_throw(zend_object *object, zend_object *exception, zval *result);
void spindle_generator_end(zend_object *object);
bool spindle_is_generator(zend_object *object);

/* streams.c */
void spindle_streams_end_request(void);
int spindle_stream_descriptor(zval *resource); /* -1: it has none, or is no open stream */
bool spindle_is_stream(zval *value);
bool spindle_stream_has_buffered(zval *resource);
bool spindle_stream_is_in_memory(zval *value); /* php://memory and php://temp */
/* The descriptor to be polled, or -1 if there is none, or if the stream is to be read from and has data in its buffer. */
int spindle_stream_to_poll(zval *resource, bool reads);
/* Does the same for sockets without TLS, without running other code; returns false for everything else. */
bool spindle_socket_to_poll(zval *resource, bool reads, int *descriptor);
/* Returns true if PHP code has set no handler for a signal. With ZEND_SIGNALS the engine catches some signals
 * itself. */
bool spindle_signal_is_default(int signal);

/* The mark of a type that is given by a class's name, in declarations of functions. */
#ifdef _ZEND_TYPE_LITERAL_NAME_BIT
enum { SPINDLE_TYPE_NAME = _ZEND_TYPE_LITERAL_NAME_BIT };
#else
enum { SPINDLE_TYPE_NAME = _ZEND_TYPE_NAME_BIT };
#endif

#ifdef SPINDLE_C_CODE
# pragma GCC visibility pop
#endif

#endif
