/* A library as there are many: it has a thread of its own, which calls back, and a call that blocks. It knows neither PHP nor Spindle. */
#ifndef BROKER_H
#define BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct broker broker;
typedef struct broker_message { struct broker_message *next; size_t length; char text[]; } broker_message;

/* Starts a broker. Its thread calls `arrived` after each message that has arrived. NULL if there is no thread. */
broker *broker_open(void (*arrived)(void *argument), void *argument);
/* Ends the thread, and forgets the messages that nobody has taken. */
void broker_close(broker *);
/* Sends a message. It arrives on the broker's thread. False if there is no memory. */
bool broker_publish(broker *, const char *text, size_t length);
/* Takes the first message that has arrived, or NULL. The caller frees it. */
broker_message *broker_take(broker *);
/* Has no message arrived that nobody has taken? */
bool broker_is_empty(broker *);
/* Blocks until there may be a message, for at most this time (negative: without limit). False if the time has passed. */
bool broker_wait(broker *, int64_t nanoseconds);

#endif
