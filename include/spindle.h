/*
 * Spindle for authors of extensions: waits that suspend the running coroutine, and let the others run.
 *
 * Calls that block in the C library suspend their coroutine by themselves, and need nothing of this. It is for what Spindle cannot
 * see: a library with a thread and callbacks of its own, an event loop, a runtime of another language. docs/authors.md has a guide.
 *
 *     #include "php.h"
 *     #include "spindle.h"
 *
 *     static const spindle_api *spindle;              // NULL without Spindle
 *     PHP_MINIT_FUNCTION(queue) { spindle = spindle_load(); ... }
 *
 * Nothing is linked: spindle_load() finds the table of functions at run time. An extension that is built with this header works
 * without Spindle, and with any later version of it.
 *
 * THE TABLE begins with its size. Functions are only ever added, at its end, and none changes its meaning. What a version does not
 * have lies beyond its size: ask SPINDLE_HAS() before you use a function that is not of the first version.
 *
 * THREADS. wake() may be called on any thread, wait_fd() and sleep() too (elsewhere than on PHP's they block that thread). All
 * others belong to PHP's thread. Where they cannot do what they should they do nothing and say so, as each describes: on another
 * thread, before and after a request, and where no coroutine may be suspended. None may be called in a signal handler.
 *
 * WHERE A COROUTINE CAN BE SUSPENDED says can_park(). It cannot before the first coroutine of the request is spawned: there is
 * nobody else to run then. Nor between forbid() and allow(); in callbacks of the engine, output handlers and the compiler; in
 * handlers of signals; and once the coroutines have ended, in shutdown functions and the last destructors. Block there as you would
 * without Spindle. The main script is a coroutine like the others.
 *
 * WHAT MAY BE HELD while a coroutine is suspended: nothing that another coroutine, or the code that wakes it, waits for: no lock
 * above all. Its stack stays where it is, so pointers into it stay valid while it is suspended. But a coroutine that is suspended
 * when the script calls exit(), or dies of a fatal error, is never resumed: what only its stack owns is then lost until the process
 * ends, and a library that keeps a pointer into the stack would write to memory that is used again. Give libraries memory of the
 * heap, which is counted or has another owner.
 *
 * CANCELLATION. A wait that ends with SPINDLE_CANCELLED is to be given up: release what the call holds, and return from your PHP
 * function. The exception is thrown when it has returned. Until then further waits of the coroutine end at once in the same way,
 * calls of the C library included; throw_pending() throws it earlier. An exception that the function throws itself becomes the
 * previous one.
 *
 * THE END OF A REQUEST. What `drop` and `free` are called for then may come after the RSHUTDOWN of your extension, when PHP code cannot
 * run any more: release memory there, and do not throw, report errors, or use what your RSHUTDOWN has freed. A job that was given up
 * may still run in MSHUTDOWN, and later.
 *
 * TIMES are nanoseconds. A deadline is a time of CLOCK_MONOTONIC: spindle_after() computes it.
 */
#ifndef SPINDLE_H
#define SPINDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "php.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. It changes with each function that is added. */
#define SPINDLE_API_VERSION 1

/* One wait of one coroutine. A ticket is never used again in the process: one that is kept for too long wakes nothing. 0 is none. */
typedef uint64_t spindle_ticket;

/* A deadline that never comes. */
#define SPINDLE_FOREVER UINT64_MAX

/* How a wait has ended. */
typedef enum spindle_why {
    /* By wake(), or because the descriptor is ready or the job has ended. It may be by chance: look whether there is what you wait
     * for, and otherwise wait again. */
    SPINDLE_WOKEN = 0,
    /* The deadline has passed. */
    SPINDLE_TIMED_OUT = 1,
    /* The coroutine is cancelled: see above. */
    SPINDLE_CANCELLED = 2,
    /* A signal was caught, for which PHP code may have a handler. It runs when PHP code goes on: return to it, or wait again. */
    SPINDLE_INTERRUPTED = 3,
    /* There was no wait. errno says why: EPERM, as can_park() is false here; EBADF, EINVAL and the like for descriptors. */
    SPINDLE_FAILED = 4
} spindle_why;

/* What calls of an extension's functions hold while their coroutine is suspended in them: see declare(). */
typedef enum spindle_holds {
    /* The whole extension: one call at a time. This is so for extensions that declare nothing. */
    SPINDLE_HOLDS_ALL = 0,
    /* The objects of the extension among their arguments, $this included, and resources: one call at a time on each of these. */
    SPINDLE_HOLDS_HANDLES = 1,
    /* Nothing: any number of calls at a time, on the same objects, too. */
    SPINDLE_HOLDS_NOTHING = 2
} spindle_holds;

typedef struct spindle_api {
    /* The size of the table in bytes, in the version of Spindle that is loaded. */
    uint32_t size;
    /* The SPINDLE_API_VERSION that it was built with. */
    uint32_t version;

    /* Returns true if the running code can be suspended here, so that begin_wait() and park() work. False on other threads. */
    bool (*can_park)(void);

    /* Returns the number of the running coroutine, which none other gets in this request. 0 on other threads and outside of requests. */
    uint64_t (*current)(void);

    /* Spawns a coroutine that calls a PHP function, as Async\spawn() does, with copies of the arguments in `call`. The cache is what
     * zend_parse_parameters() has filled in, or NULL. Returns the Async\Coroutine, a reference that is the caller's; NULL after an
     * exception was thrown, and on other threads. The coroutine begins when the running one waits or has ended. */
    zend_object *(*spawn)(zend_fcall_info *call, zend_fcall_info_cache *cache);

    /* Spawns a coroutine that runs C code. `run` may set `result`, which is null, or throw an exception and return. `drop`, unless it
     * is NULL, is called once with `argument`, on PHP's thread: after `run` has returned; in its place, for a coroutine that is
     * cancelled before it has begun; at the end of the request, if that comes first. Not in the child of a fork, for coroutines that
     * only the parent has. Returns what spawn() returns; `drop` has been called if that is NULL, except on other threads and outside of
     * requests. */
    zend_object *(*spawn_c)(void (*run)(void *argument, zval *result), void *argument, void (*drop)(void *argument));

    /* Waits for an Async\Awaitable or Async\Scope, as Async\await() does. Returns true and its result, which is the caller's; false
     * after an exception was thrown, and on other threads: `result` is then left as it is. Where the coroutine cannot be suspended
     * it throws, unless there is a result already. */
    bool (*await)(zend_object *awaitable, zval *result);

    /* Begins a wait of the running coroutine: park() follows. Pass the ticket to what will wake it. Earlier tickets of this coroutine
     * wake nothing from here on. Returns 0 where can_park() is false.
     *
     * Between this and park() the coroutine must not wait for anything else, or park() returns at once: so take a lock before,
     * not after this. */
    spindle_ticket (*begin_wait)(void);

    /* Suspends the running coroutine until its ticket is woken, until the deadline, or until it is cancelled or interrupted. A wake()
     * that came before this is not lost. A ticket that is not the last of begin_wait() ends at once, as woken. `what` says in dumps
     * and messages what the coroutine waits for, as "Queue::receive"; it must stay until this returns; NULL is "park".
     *
     * Until a thread wakes it, nothing else ends the wait: Spindle counts on that, and sees no deadlock in it. */
    spindle_why (*park)(spindle_ticket ticket, uint64_t deadline, const char *what);

    /* Wakes a wait, on any thread, at any time: one that has ended, has been woken, or belongs to a request that is over is left
     * alone, as is 0. Takes no lock of yours, and calls nothing; at most one system call. It may be called with locks held, but not in
     * a signal handler. */
    void (*wake)(spindle_ticket ticket);

    /* Waits until a descriptor is ready for `events`, as of poll(2), or has failed: SPINDLE_WOKEN. It is a poll(2) that knows that the
     * descriptor may be used by system calls that Spindle does not see; a cancelled one, too, shuts a connection down, unless the
     * function holds nothing (see declare()): the rest of an answer must not be taken for the next one. Where the coroutine cannot be
     * suspended, and on other threads, it blocks the thread. */
    spindle_why (*wait_fd)(int fd, int events, uint64_t deadline);

    /* Waits for this time: SPINDLE_TIMED_OUT. Where the coroutine cannot be suspended, and on other threads, it blocks the thread. */
    spindle_why (*sleep)(uint64_t nanoseconds);

    /* Runs run(argument) on a worker thread, and waits for its end. It must not use PHP: no emalloc(), no zval.
     *
     * SPINDLE_WOKEN: it has run, and `argument` is the caller's again. SPINDLE_CANCELLED: it has been given up, and goes on by itself
     * or never begins; `argument`, which must be memory of the heap, is no longer the caller's: drop(argument) is called once, on any
     * thread, when nobody uses it any more. If the coroutine never goes on, as after an exit(), drop() is not called. Signals do not
     * end the wait. Where the coroutine cannot be suspended, or no thread can be had, the job runs in place. */
    spindle_why (*job)(void (*run)(void *argument), void *argument, void (*drop)(void *argument));

    /* Forbids switches to other coroutines until allow(), as around a callback in whose middle a library must not be entered again.
     * Calls that would wait block the thread meanwhile. They nest; an allow() too many does nothing. What a coroutine has left forbidden
     * ends with it. */
    void (*forbid)(void);
    void (*allow)(void);

    /* Returns true if the running coroutine is cancelled and the exception has not been thrown: for loops that compute. */
    bool (*cancelled)(void);

    /* Throws that exception now, if there is one. Waits work again then, as for clean-up that has to talk to a server. */
    void (*throw_pending)(void);

    /* Returns the place of the running coroutine's own value for `key`, the address of something of yours. It is NULL at first. When
     * the coroutine has ended free(value) is called, unless the value is NULL: on PHP's thread, where it may run PHP code and wait if
     * the coroutine has ended by itself; at the end of the request for the main script and for coroutines that an exit() has
     * abandoned. Not in the child of a fork, for coroutines that only the parent has. The place stays where it is until then. Returns
     * NULL on other threads and outside of requests. */
    void **(*local)(const void *key, void (*free)(void *value));

    /* Declares what calls hold: of the function with this name ("name" or "Class::method"), or of all functions and methods of this
     * extension without a declaration of their own, if the name is NULL. To be called in MINIT; returns false once a request has
     * begun, when it is too late. It is a promise: if calls that run at the same time use the same data, that is damaged.
     *
     * What counts is what the extension and its library keep outside of the call, while that waits, calls PHP code or reports an error:
     * globals, connections, buffers. If in doubt, declare nothing. */
    bool (*declare)(const zend_module_entry *module, const char *function, spindle_holds holds);
} spindle_api;

/* Is this function in the table that is loaded? For functions that are added after version 1. */
#define SPINDLE_HAS(api, function) \
    ((api) != NULL && (api)->size >= offsetof(spindle_api, function) + sizeof((api)->function))

/* The size of the table of version 1: no Spindle has a smaller one. */
#define SPINDLE_API_SIZE_1 (offsetof(spindle_api, declare) + sizeof(((spindle_api *) NULL)->declare))

/* Returns the table, or NULL if Spindle is not loaded, or has none. In MINIT and later; the answer stays the same. */
static inline const spindle_api *spindle_load(void)
{
    const zend_module_entry *module =
        (const zend_module_entry *) zend_hash_str_find_ptr(&module_registry, "spindle", sizeof("spindle") - 1);
    const spindle_api *api;
    if (module == NULL) {
        return NULL;
    }
    api = (const spindle_api *) DL_FETCH_SYMBOL(module->handle, "spindle_api");
    return api != NULL && api->size >= SPINDLE_API_SIZE_1 ? api : NULL;
}

/* Returns the deadline that is so many nanoseconds from now. */
static inline uint64_t spindle_after(uint64_t nanoseconds)
{
    struct timespec now;
    uint64_t time;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time = (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
    return nanoseconds < SPINDLE_FOREVER - time ? time + nanoseconds : SPINDLE_FOREVER;
}

#ifdef __cplusplus
}
#endif

#endif
