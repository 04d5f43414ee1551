/*
 * Acme\Queue, an extension around a library with a thread of its own (broker.h). Without Spindle receive() blocks the process, as such
 * extensions do. With Spindle it suspends its coroutine only, and the library's thread wakes it.
 *
 *     cc -shared -fPIC $(php-config --includes) -I$(php-config --include-dir)/ext/spindle queue.c broker.c -o queue.so
 */
#include "php.h"
#include "zend_exceptions.h"
#include "spindle.h"
#include "broker.h"

#include <pthread.h>

static const spindle_api *spindle;

/* A coroutine that waits for a message. Not on its stack: an exit() leaves a coroutine suspended for good, and this would stay in the list
 * when that memory is used again. */
typedef struct waiter { struct waiter *next; spindle_ticket ticket; bool is_notified; } waiter;

typedef struct {
    broker *broker;
    pthread_mutex_t lock; /* the list is the broker's thread's, too */
    waiter *waiting;
    zend_object std;
} queue;

static zend_object_handlers handlers;

static queue *queue_of(zend_object *object)
{
    return (queue *) ((char *) object - XtOffsetOf(queue, std));
}

/* Wakes the first coroutine that waits and has not been woken. On the broker's thread, or to pass on what was meant for another. */
static void notify(void *argument)
{
    queue *it = argument;
    spindle_ticket ticket = 0;
    pthread_mutex_lock(&it->lock);
    for (waiter *at = it->waiting; at != NULL && ticket == 0; at = at->next) {
        if (!at->is_notified) {
            at->is_notified = true;
            ticket = at->ticket;
        }
    }
    pthread_mutex_unlock(&it->lock);
    if (ticket != 0) {
        spindle->wake(ticket);
    }
}

/* Adds a waiter at the end of the list. */
static waiter *enter(queue *it)
{
    waiter *self = pecalloc(1, sizeof(waiter), 1), **end = &it->waiting;
    pthread_mutex_lock(&it->lock);
    self->ticket = spindle->begin_wait(); /* with the lock: waiting for a lock is a wait of its own */
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = self;
    pthread_mutex_unlock(&it->lock);
    return self;
}

/* Takes it off the list. Returns true if it was notified. */
static bool leave(queue *it, waiter *self)
{
    bool is_notified;
    pthread_mutex_lock(&it->lock);
    waiter **at = &it->waiting;
    while (*at != self) {
        at = &(*at)->next;
    }
    *at = self->next;
    is_notified = self->is_notified;
    pthread_mutex_unlock(&it->lock);
    pefree(self, 1);
    return is_notified;
}

/* Waits until there may be a message. Returns false if the call is to return without one. */
static bool wait_for_message(queue *it, uint64_t deadline)
{
    if (spindle == NULL || !spindle->can_park()) {
        uint64_t now = spindle_after(0);
        if (deadline != SPINDLE_FOREVER && deadline <= now) {
            return false;
        }
        broker_wait(it->broker, deadline == SPINDLE_FOREVER ? -1 : (int64_t) (deadline - now));
        return true;
    }
    waiter *self = enter(it);
    spindle_why why = SPINDLE_WOKEN;
    if (broker_is_empty(it->broker)) { /* what has arrived before it was in the list has notified nobody */
        why = spindle->park(self->ticket, deadline, "Acme\\Queue::receive");
    }
    bool is_notified = leave(it, self);
    if (why != SPINDLE_WOKEN && is_notified) {
        notify(it); /* there is a message, for somebody else */
    }
    return why == SPINDLE_WOKEN;
}

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_publish, 0, 1, IS_VOID, 0)
    ZEND_ARG_TYPE_INFO(0, message, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_receive, 0, 0, IS_STRING, 1)
    ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

static PHP_METHOD(Acme_Queue, publish)
{
    char *text;
    size_t length;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STRING(text, length)
    ZEND_PARSE_PARAMETERS_END();
    if (!broker_publish(queue_of(Z_OBJ_P(ZEND_THIS))->broker, text, length)) {
        zend_throw_error(NULL, "There is no memory for the message");
    }
}

/* Returns the next message, or null if none comes within so many seconds. */
static PHP_METHOD(Acme_Queue, receive)
{
    double timeout = 0;
    bool is_null = true;
    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_DOUBLE_OR_NULL(timeout, is_null)
    ZEND_PARSE_PARAMETERS_END();
    queue *it = queue_of(Z_OBJ_P(ZEND_THIS));
    uint64_t deadline = is_null ? SPINDLE_FOREVER : spindle_after((uint64_t) (timeout * 1e9));
    broker_message *message;
    while ((message = broker_take(it->broker)) == NULL) {
        if (!wait_for_message(it, deadline)) {
            RETURN_NULL(); /* if the coroutine is cancelled, the exception comes now */
        }
    }
    RETVAL_STRINGL(message->text, message->length);
    free(message);
}

static const zend_function_entry methods[] = {
    PHP_ME(Acme_Queue, publish, arginfo_publish, ZEND_ACC_PUBLIC)
    PHP_ME(Acme_Queue, receive, arginfo_receive, ZEND_ACC_PUBLIC)
    PHP_FE_END
};

static zend_object *create(zend_class_entry *class)
{
    queue *it = zend_object_alloc(sizeof(queue), class);
    zend_object_std_init(&it->std, class);
    object_properties_init(&it->std, class);
    it->std.handlers = &handlers;
    pthread_mutex_init(&it->lock, NULL);
    it->waiting = NULL;
    it->broker = broker_open(notify, it);
    if (it->broker == NULL) {
        zend_error_noreturn(E_ERROR, "The queue has no thread");
    }
    return &it->std;
}

static void free_queue(zend_object *object)
{
    queue *it = queue_of(object);
    broker_close(it->broker);
    /* Coroutines that an exit() has abandoned. */
    for (waiter *at = it->waiting, *next; at != NULL; at = next) {
        next = at->next;
        pefree(at, 1);
    }
    pthread_mutex_destroy(&it->lock);
    zend_object_std_dtor(object);
}

static zend_module_entry queue_module_entry;

static PHP_MINIT_FUNCTION(queue)
{
    zend_class_entry class, *registered;
    INIT_NS_CLASS_ENTRY(class, "Acme", "Queue", methods);
    registered = zend_register_internal_class(&class);
    registered->create_object = create;
    registered->ce_flags |= ZEND_ACC_FINAL | ZEND_ACC_NO_DYNAMIC_PROPERTIES | ZEND_ACC_NOT_SERIALIZABLE;
    memcpy(&handlers, &std_object_handlers, sizeof(handlers));
    handlers.offset = XtOffsetOf(queue, std);
    handlers.free_obj = free_queue;
    handlers.clone_obj = NULL;
    spindle = spindle_load();
    if (spindle != NULL) {
        /* Any number of coroutines may be in the methods of one queue: what they share has a lock. */
        spindle->declare(&queue_module_entry, NULL, SPINDLE_HOLDS_NOTHING);
    }
    return SUCCESS;
}

/* Optional: PHP then starts it after Spindle, whichever is named first. */
static const zend_module_dep dependencies[] = {ZEND_MOD_OPTIONAL("spindle") ZEND_MOD_END};

static zend_module_entry queue_module_entry = {
    STANDARD_MODULE_HEADER_EX, NULL, dependencies, "queue", NULL, PHP_MINIT(queue), NULL, NULL, NULL, NULL, "1.0", STANDARD_MODULE_PROPERTIES
};

ZEND_GET_MODULE(queue)
