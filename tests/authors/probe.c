/*
 * An extension for the tests of the API for authors: each function of include/spindle.h as a function of PHP, and what they are to
 * survive: threads, late wake-ups, wrong places.
 */
#include "php.h"
#include "ext/standard/info.h"
#include "spindle.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static const spindle_api *spindle;
static const char *const WHY[] = {"woken", "timed out", "cancelled", "interrupted", "failed"};

#define PARAMETERS_NONE if (zend_parse_parameters_none() == FAILURE) { return; }

static void return_why(zval *return_value, spindle_why why)
{
    int error = errno;
    if (why == SPINDLE_FAILED) {
        ZVAL_STR(return_value, strpprintf(0, "failed: %s", error == EPERM ? "EPERM" : error == EBADF ? "EBADF" : error == EINVAL ? "EINVAL" : "?"));
    } else {
        ZVAL_STRING(return_value, WHY[why]);
    }
}

/* --- the functions themselves --- */

ZEND_BEGIN_ARG_INFO_EX(arginfo_any, 0, 0, 0)
    ZEND_ARG_VARIADIC_INFO(0, arguments)
ZEND_END_ARG_INFO()

PHP_FUNCTION(probe_loaded)
{
    PARAMETERS_NONE
    RETURN_BOOL(spindle != NULL);
}

PHP_FUNCTION(probe_can_park)
{
    PARAMETERS_NONE
    RETURN_BOOL(spindle->can_park());
}

PHP_FUNCTION(probe_current)
{
    PARAMETERS_NONE
    RETURN_LONG((zend_long) spindle->current());
}

PHP_FUNCTION(probe_begin_wait)
{
    PARAMETERS_NONE
    RETURN_LONG((zend_long) spindle->begin_wait());
}

/* probe_park(int $ticket, ?int $nanoseconds = null, ?string $what = null): the ticket 0 stands for a new one */
PHP_FUNCTION(probe_park)
{
    zend_long ticket = 0, nanoseconds = -1;
    zend_bool none = 1;
    char *what = "probe";
    size_t length = 0;
    ZEND_PARSE_PARAMETERS_START(0, 3)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(ticket)
        Z_PARAM_LONG_OR_NULL(nanoseconds, none)
        Z_PARAM_STRING_OR_NULL(what, length)
    ZEND_PARSE_PARAMETERS_END();
    if (ticket == 0) {
        ticket = (zend_long) spindle->begin_wait();
    }
    errno = 0;
    return_why(return_value, spindle->park((spindle_ticket) ticket, none ? SPINDLE_FOREVER : spindle_after((uint64_t) nanoseconds), what));
}

PHP_FUNCTION(probe_wake)
{
    zend_long ticket;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(ticket)
    ZEND_PARSE_PARAMETERS_END();
    spindle->wake((spindle_ticket) ticket);
}

typedef struct {
    spindle_ticket ticket;
    int times;
    uint64_t nanoseconds;
} late;

static void *wakes(void *argument)
{
    late *it = argument;
    struct timespec time = {(time_t) (it->nanoseconds / 1000000000), (long) (it->nanoseconds % 1000000000)};
    nanosleep(&time, NULL);
    for (int i = 0; i < it->times; i++) {
        spindle->wake(it->ticket);
    }
    free(it);
    return NULL;
}

typedef struct { void *(*run)(void *); void *argument; _Atomic(bool) has_ended; } errand;

static void *run_errand(void *argument)
{
    errand *it = argument;
    it->run(it->argument);
    it->has_ended = true;
    return NULL;
}

/* pthread_join() would be a wait of its own, which makes the ticket of the next park void: the end is looked for. */
static void on_a_thread(void *(*run)(void *), void *argument, bool join)
{
    pthread_t thread;
    errand it = {run, argument, false};
    if (pthread_create(&thread, NULL, join ? run_errand : run, join ? &it : argument) != 0) {
        abort();
    }
    pthread_detach(thread);
    while (join && !it.has_ended) {
        sched_yield();
    }
}

/* probe_wake_by_thread(int $ticket, int $nanoseconds = 0, int $times = 1, bool $join = false) */
PHP_FUNCTION(probe_wake_by_thread)
{
    zend_long ticket, nanoseconds = 0, times = 1;
    zend_bool join = 0;
    ZEND_PARSE_PARAMETERS_START(1, 4)
        Z_PARAM_LONG(ticket)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(nanoseconds)
        Z_PARAM_LONG(times)
        Z_PARAM_BOOL(join)
    ZEND_PARSE_PARAMETERS_END();
    late *it = malloc(sizeof(late));
    *it = (late) {(spindle_ticket) ticket, (int) times, (uint64_t) nanoseconds};
    on_a_thread(wakes, it, join);
}

PHP_FUNCTION(probe_wait_fd)
{
    zend_long fd, events, nanoseconds = -1;
    zend_bool none = 1;
    ZEND_PARSE_PARAMETERS_START(2, 3)
        Z_PARAM_LONG(fd)
        Z_PARAM_LONG(events)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG_OR_NULL(nanoseconds, none)
    ZEND_PARSE_PARAMETERS_END();
    errno = 0;
    return_why(return_value, spindle->wait_fd((int) fd, (int) events, none ? SPINDLE_FOREVER : spindle_after((uint64_t) nanoseconds)));
}

/* The descriptor of a stream. */
PHP_FUNCTION(probe_fd)
{
    zval *value;
    php_stream *stream;
    int fd = -1;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_RESOURCE(value)
    ZEND_PARSE_PARAMETERS_END();
    php_stream_from_zval(stream, value);
    php_stream_cast(stream, PHP_STREAM_AS_FD | PHP_STREAM_CAST_INTERNAL, (void *) &fd, 0);
    RETURN_LONG(fd);
}

/* Reads by a system call that Spindle does not see; the number of bytes. */
PHP_FUNCTION(probe_read_unseen)
{
    zend_long fd;
    char buffer[100];
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(fd)
    ZEND_PARSE_PARAMETERS_END();
    RETURN_LONG(syscall(SYS_read, (int) fd, buffer, sizeof(buffer)));
}

PHP_FUNCTION(probe_sleep)
{
    zend_long nanoseconds;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(nanoseconds)
    ZEND_PARSE_PARAMETERS_END();
    return_why(return_value, spindle->sleep((uint64_t) nanoseconds));
}

/* --- jobs: one runs until its gate is opened --- */

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_open, waits;
    _Atomic(int) ran, dropped, on_other_thread;
} gate;

static gate jobs = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false, 0, 0, 0};
static pthread_t php_thread;

static void run_job(void *argument)
{
    gate *it = argument;
    pthread_mutex_lock(&it->lock);
    it->waits = true;
    while (!it->is_open) {
        pthread_cond_wait(&it->changed, &it->lock);
    }
    pthread_mutex_unlock(&it->lock);
    it->on_other_thread += !pthread_equal(pthread_self(), php_thread);
    it->ran++;
}

static void drop_job(void *argument)
{
    ((gate *) argument)->dropped++;
}

/* probe_job(bool $gate_is_open) */
PHP_FUNCTION(probe_job)
{
    zend_bool is_open;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_BOOL(is_open)
    ZEND_PARSE_PARAMETERS_END();
    php_thread = pthread_self();
    jobs.is_open = is_open;
    return_why(return_value, spindle->job(run_job, &jobs, drop_job));
}

PHP_FUNCTION(probe_open)
{
    PARAMETERS_NONE
    pthread_mutex_lock(&jobs.lock);
    jobs.is_open = true;
    pthread_cond_broadcast(&jobs.changed);
    pthread_mutex_unlock(&jobs.lock);
}

PHP_FUNCTION(probe_jobs)
{
    PARAMETERS_NONE
    array_init(return_value);
    add_assoc_long(return_value, "ran", jobs.ran);
    add_assoc_long(return_value, "dropped", jobs.dropped);
    add_assoc_long(return_value, "on other threads", jobs.on_other_thread);
}

PHP_FUNCTION(probe_forbid)
{
    PARAMETERS_NONE
    spindle->forbid();
}

PHP_FUNCTION(probe_allow)
{
    PARAMETERS_NONE
    spindle->allow();
}

PHP_FUNCTION(probe_cancelled)
{
    PARAMETERS_NONE
    RETURN_BOOL(spindle->cancelled());
}

PHP_FUNCTION(probe_throw_pending)
{
    PARAMETERS_NONE
    spindle->throw_pending();
}

/* A wait that is given up when it is cancelled, and one more before it returns; what each has ended with. */
PHP_FUNCTION(probe_waits_after_cancel)
{
    PARAMETERS_NONE
    array_init(return_value);
    add_next_index_string(return_value, WHY[spindle->park(spindle->begin_wait(), SPINDLE_FOREVER, "first")]);
    add_next_index_bool(return_value, spindle->cancelled());
    add_next_index_string(return_value, WHY[spindle->park(spindle->begin_wait(), SPINDLE_FOREVER, "second")]);
    add_next_index_string(return_value, WHY[spindle->sleep(1000)]);
    php_printf("%s\n", spindle->cancelled() ? "still cancelled" : "no more");
}

/* The same with an exception thrown early: waits work again after that. */
PHP_FUNCTION(probe_cleans_up)
{
    PARAMETERS_NONE
    spindle_why why = spindle->park(spindle->begin_wait(), SPINDLE_FOREVER, "first");
    spindle->throw_pending();
    php_printf("%s, thrown: %s, %s, then %s\n", WHY[why], EG(exception) ? "yes" : "no", spindle->cancelled() ? "cancelled" : "not cancelled",
        WHY[spindle->sleep(1000)]);
}

/* --- coroutines --- */

PHP_FUNCTION(probe_spawn)
{
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    ZEND_PARSE_PARAMETERS_START(1, -1)
        Z_PARAM_FUNC(call, cache)
        Z_PARAM_VARIADIC_WITH_NAMED(call.params, call.param_count, call.named_params)
    ZEND_PARSE_PARAMETERS_END();
    zend_object *coroutine = spindle->spawn(&call, &cache);
    if (coroutine != NULL) {
        RETURN_OBJ(coroutine);
    }
}

/* By the callable alone, which may be none. */
PHP_FUNCTION(probe_spawn_value)
{
    zval *value;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();
    zend_fcall_info call = {.size = sizeof(call)};
    ZVAL_COPY_VALUE(&call.function_name, value);
    zend_object *coroutine = spindle->spawn(&call, NULL);
    if (coroutine != NULL) {
        RETURN_OBJ(coroutine);
    }
}

/* By what zend_parse_parameters() has found, alone. */
PHP_FUNCTION(probe_spawn_cache)
{
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_FUNC(call, cache)
    ZEND_PARSE_PARAMETERS_END();
    ZVAL_UNDEF(&call.function_name);
    zend_object *coroutine = spindle->spawn(&call, &cache);
    if (coroutine != NULL) {
        RETURN_OBJ(coroutine);
    }
}

static _Atomic(int) bodies_dropped;

typedef struct {
    zval callable;
} body;

static void run_body(void *argument, zval *result)
{
    body *it = argument;
    if (Z_TYPE(it->callable) != IS_NULL) {
        call_user_function(NULL, NULL, &it->callable, result, 0, NULL);
    }
}

static void drop_body(void *argument)
{
    body *it = argument;
    zval_ptr_dtor(&it->callable);
    free(it);
    bodies_dropped++;
}

PHP_FUNCTION(probe_spawn_c)
{
    zval *value;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();
    body *it = malloc(sizeof(body));
    ZVAL_COPY(&it->callable, value);
    zend_object *coroutine = spindle->spawn_c(run_body, it, drop_body);
    if (coroutine != NULL) {
        RETURN_OBJ(coroutine);
    }
}

PHP_FUNCTION(probe_dropped)
{
    PARAMETERS_NONE
    RETURN_LONG(bodies_dropped);
}

PHP_FUNCTION(probe_await)
{
    zend_object *object;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ(object)
    ZEND_PARSE_PARAMETERS_END();
    zval result;
    if (spindle->await(object, &result)) {
        RETURN_COPY_VALUE(&result);
    }
}

/* --- values of coroutines --- */

static const char KEYS[2];
static zend_long freed;

/* Negative values are told, as they may be freed when PHP code cannot ask any more; -7 leaves another one. */
static void free_local(void *value)
{
    zend_long number = (zend_long) (intptr_t) value;
    freed += number;
    if (number < 0) {
        printf("freed " ZEND_LONG_FMT "\n", number);
        fflush(stdout);
    }
    if (number == -7) {
        void **place = spindle->local(&KEYS[0], free_local);
        if (place) {
            *place = value;
        }
    }
}

/* Also runs PHP code, which waits. */
static void free_by_php(void *value)
{
    zval callable, result;
    ZVAL_STRING(&callable, "freed_by_php");
    if (call_user_function(NULL, NULL, &callable, &result, 0, NULL) == SUCCESS) {
        zval_ptr_dtor(&result);
    }
    zval_ptr_dtor(&callable);
    free_local(value);
}

/* probe_local(int $key, ?int $value, bool $by_php = false): the value before. */
PHP_FUNCTION(probe_local)
{
    zend_long key, value = 0;
    zend_bool none = 1, by_php = 0;
    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_LONG(key)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG_OR_NULL(value, none)
        Z_PARAM_BOOL(by_php)
    ZEND_PARSE_PARAMETERS_END();
    void **place = spindle->local(&KEYS[key], by_php ? free_by_php : free_local);
    RETVAL_LONG((zend_long) (intptr_t) *place);
    if (!none) {
        *place = (void *) (intptr_t) value;
    }
}

PHP_FUNCTION(probe_freed)
{
    PARAMETERS_NONE
    RETURN_LONG(freed);
}

/* --- all functions on another thread --- */

static void *call_all(void *argument)
{
    int *wrong = argument;
    zval result;
    zend_fcall_info call = {.size = sizeof(call)};
    ZVAL_LONG(&result, 7);
    ZVAL_UNDEF(&call.function_name);
    void (*run)(void *, zval *) = run_body;
    *wrong |= spindle->can_park() << 0;
    *wrong |= (spindle->current() != 0) << 1;
    *wrong |= (spindle->spawn(&call, NULL) != NULL) << 2;
    *wrong |= (spindle->spawn_c(run, NULL, NULL) != NULL) << 3;
    *wrong |= spindle->await(NULL, &result) << 4;
    *wrong |= (spindle->begin_wait() != 0) << 5;
    errno = 0;
    *wrong |= (spindle->park(1, SPINDLE_FOREVER, "thread") != SPINDLE_FAILED || errno != EPERM) << 6;
    spindle->wake(0);
    spindle->wake(1);
    spindle->wake(UINT64_MAX);
    *wrong |= (spindle->wait_fd(-1, 1, spindle_after(1000)) != SPINDLE_FAILED) << 7;
    *wrong |= (spindle->sleep(1000) != SPINDLE_TIMED_OUT) << 8;
    spindle->forbid();
    spindle->allow();
    spindle->allow();
    *wrong |= spindle->cancelled() << 9;
    spindle->throw_pending();
    *wrong |= (spindle->local(KEYS, NULL) != NULL) << 10;
    *wrong |= (Z_LVAL(result) != 7) << 11;
    return NULL;
}

PHP_FUNCTION(probe_all_on_a_thread)
{
    PARAMETERS_NONE
    int wrong = 0;
    on_a_thread(call_all, &wrong, true);
    RETURN_LONG(wrong);
}

/* --- declarations --- */

/* A call that holds what its extension has declared, and waits until it is cancelled. */
static void waits(INTERNAL_FUNCTION_PARAMETERS)
{
    return_why(return_value, spindle->park(spindle->begin_wait(), SPINDLE_FOREVER, "a call"));
}

PHP_FUNCTION(probe_alone) { waits(INTERNAL_FUNCTION_PARAM_PASSTHRU); }
PHP_FUNCTION(probe_by_handle) { waits(INTERNAL_FUNCTION_PARAM_PASSTHRU); }

PHP_FUNCTION(probe_declare_late)
{
    PARAMETERS_NONE
    const zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, "probe", 5);
    const zend_module_entry absent = { .name = "absent" };
    RETURN_BOOL(spindle->declare(module, NULL, SPINDLE_HOLDS_ALL) || spindle->declare(&absent, NULL, SPINDLE_HOLDS_ALL));
}

/* --- an error, for AddressSanitizer --- */

PHP_FUNCTION(probe_plant)
{
    PARAMETERS_NONE
    volatile int behind = 16;
    char *block = calloc(1, 16);
    RETVAL_LONG(block[behind]);
    free(block);
}

/* --- the end of the process --- */

/* The tickets that a thread wakes after the module has shut down. */
static spindle_ticket left_over;

PHP_FUNCTION(probe_leave)
{
    PARAMETERS_NONE
    left_over = spindle->begin_wait();
}

/* What is done then. PHP frees the environment before. */
static bool says_freed, says_dropped, calls_all, calls_late;

__attribute__((constructor)) static void at_the_start(void)
{
    says_freed = getenv("PROBE_FREED") != NULL;
    says_dropped = getenv("PROBE_DROPPED") != NULL;
    calls_all = getenv("PROBE_END") != NULL;
    calls_late = getenv("PROBE_LATE") != NULL;
}

__attribute__((destructor)) static void at_the_end_of_the_process(void)
{
    int wrong = 0;
    if (says_freed) {
        dprintf(1, "freed: %ld\n", (long) freed);
    }
    if (says_dropped) {
        dprintf(1, "dropped: %d\n", bodies_dropped);
    }
    if (spindle == NULL || !calls_all) {
        return;
    }
    on_a_thread(wakes, memcpy(malloc(sizeof(late)), &(late) {left_over, 2, 0}, sizeof(late)), true);
    call_all(&wrong);
    dprintf(1, "at the end of the process: %d\n", wrong);
}

/* --- the end of the request --- */

/* The engine has freed all objects, and has no place for others. */
static zend_result post_deactivate(void)
{
    if (calls_late && spindle != NULL) {
        int wrong = (spindle->local(KEYS, free_local) != NULL) << 0;
        body *it = malloc(sizeof(body));
        ZVAL_NULL(&it->callable);
        int before = bodies_dropped;
        wrong |= (spindle->spawn_c(run_body, it, drop_body) != NULL) << 1;
        wrong |= (spindle->begin_wait() != 0) << 2;
        wrong |= (bodies_dropped != before + 1) << 3;
        dprintf(1, "at the end of the request: %d\n", wrong);
    }
    return SUCCESS;
}

static const zend_function_entry functions[] = {
#define PROBE(name) PHP_FE(probe_##name, arginfo_any)
    PROBE(loaded) PROBE(can_park) PROBE(current) PROBE(begin_wait) PROBE(park) PROBE(wake) PROBE(wake_by_thread) PROBE(wait_fd)
    PROBE(fd) PROBE(read_unseen) PROBE(sleep) PROBE(job) PROBE(open) PROBE(jobs) PROBE(forbid) PROBE(allow) PROBE(cancelled) PROBE(throw_pending)
    PROBE(waits_after_cancel) PROBE(cleans_up) PROBE(spawn) PROBE(spawn_value) PROBE(spawn_cache) PROBE(spawn_c) PROBE(dropped) PROBE(await)
    PROBE(local) PROBE(freed) PROBE(all_on_a_thread) PROBE(alone) PROBE(by_handle) PROBE(declare_late) PROBE(plant) PROBE(leave)
    PHP_FE_END
};

static zend_module_entry probe_module_entry;

static PHP_MINIT_FUNCTION(probe)
{
    spindle = spindle_load();
    /* A table of a version that does not exist yet has more, and one that lacks something is none. */
    if (spindle != NULL) {
        bool declared = spindle->declare(&probe_module_entry, NULL, SPINDLE_HOLDS_NOTHING)
            && spindle->declare(&probe_module_entry, "probe_alone", SPINDLE_HOLDS_ALL)
            && spindle->declare(&probe_module_entry, "Probe_By_Handle", SPINDLE_HOLDS_HANDLES);
        if (!declared || spindle->declare(NULL, NULL, SPINDLE_HOLDS_ALL) || spindle->declare(&probe_module_entry, NULL, (spindle_holds) 7)) {
            return FAILURE;
        }
    }
    return SUCCESS;
}

static const zend_module_dep dependencies[] = {ZEND_MOD_OPTIONAL("spindle") ZEND_MOD_END};

static zend_module_entry probe_module_entry = {
    STANDARD_MODULE_HEADER_EX, NULL, dependencies, "probe", functions, PHP_MINIT(probe), NULL, NULL, NULL, NULL, "1",
    NO_MODULE_GLOBALS, post_deactivate, STANDARD_MODULE_PROPERTIES_EX
};

ZEND_GET_MODULE(probe)
