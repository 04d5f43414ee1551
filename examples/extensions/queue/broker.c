#include "broker.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef struct { broker_message *first, **last; } list;

struct broker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t sent;
    list on_the_way, arrived;
    bool closing;
    /* Changes with each message. It is waited for by a system call, as std::atomic::wait() of C++ does it: nothing that blocks in the
     * C library, where Spindle would see it. */
    _Atomic(uint32_t) arrivals;
    void (*callback)(void *);
    void *argument;
};

static void append(list *to, broker_message *message)
{
    message->next = NULL;
    *to->last = message;
    to->last = &message->next;
}

static broker_message *take(list *from)
{
    broker_message *message = from->first;
    if (message != NULL && (from->first = message->next) == NULL) {
        from->last = &from->first;
    }
    return message;
}

static void *run(void *argument)
{
    broker *it = argument;
    pthread_mutex_lock(&it->lock);
    while (!it->closing) {
        broker_message *message = take(&it->on_the_way);
        if (message == NULL) {
            pthread_cond_wait(&it->sent, &it->lock);
            continue;
        }
        append(&it->arrived, message);
        pthread_mutex_unlock(&it->lock);
        it->arrivals++;
        syscall(SYS_futex, &it->arrivals, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        it->callback(it->argument);
        pthread_mutex_lock(&it->lock);
    }
    pthread_mutex_unlock(&it->lock);
    return NULL;
}

broker *broker_open(void (*arrived)(void *), void *argument)
{
    broker *it = calloc(1, sizeof(broker));
    if (it == NULL) {
        return NULL;
    }
    pthread_mutex_init(&it->lock, NULL);
    pthread_cond_init(&it->sent, NULL);
    it->on_the_way.last = &it->on_the_way.first;
    it->arrived.last = &it->arrived.first;
    it->callback = arrived;
    it->argument = argument;
    if (pthread_create(&it->thread, NULL, run, it) != 0) {
        free(it);
        return NULL;
    }
    return it;
}

void broker_close(broker *it)
{
    broker_message *message;
    pthread_mutex_lock(&it->lock);
    it->closing = true;
    pthread_cond_signal(&it->sent);
    pthread_mutex_unlock(&it->lock);
    pthread_join(it->thread, NULL);
    while ((message = take(&it->on_the_way)) != NULL || (message = take(&it->arrived)) != NULL) {
        free(message);
    }
    free(it);
}

bool broker_publish(broker *it, const char *text, size_t length)
{
    broker_message *message = malloc(sizeof(broker_message) + length);
    if (message == NULL) {
        return false;
    }
    message->length = length;
    memcpy(message->text, text, length);
    pthread_mutex_lock(&it->lock);
    append(&it->on_the_way, message);
    pthread_cond_signal(&it->sent);
    pthread_mutex_unlock(&it->lock);
    return true;
}

broker_message *broker_take(broker *it)
{
    pthread_mutex_lock(&it->lock);
    broker_message *message = take(&it->arrived);
    pthread_mutex_unlock(&it->lock);
    return message;
}

bool broker_is_empty(broker *it)
{
    pthread_mutex_lock(&it->lock);
    bool is_empty = it->arrived.first == NULL;
    pthread_mutex_unlock(&it->lock);
    return is_empty;
}

bool broker_wait(broker *it, int64_t nanoseconds)
{
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    uint32_t seen = it->arrivals;
    return !broker_is_empty(it) || syscall(SYS_futex, &it->arrivals, FUTEX_WAIT_PRIVATE, seen, nanoseconds < 0 ? NULL : &time, NULL, 0) == 0
        || errno != ETIMEDOUT;
}
