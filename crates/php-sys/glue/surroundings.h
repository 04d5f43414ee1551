/* What requests change of their process: surroundings.c. */
#ifndef SPINDLE_SURROUNDINGS_H
#define SPINDLE_SURROUNDINGS_H

#include "php.h"

struct spindle_directory;

typedef struct {
	char *timezone; /* set by date_default_timezone_set() */
	const void *encoding; /* mb_internal_encoding() */
	char *locale; /* NULL: as PHP has begun */
	zend_string *ctype; /* PHP's name of its LC_CTYPE */
	struct spindle_directory *directory; /* NULL: that of the process */
	bool is_locale_changed;
	uint8_t display_errors;
	int json_error, pcre_error; /* json_last_error(), preg_last_error() */
	void *date_errors; /* date_get_last_errors() */
	zend_object *pgsql_link; /* that which pg_query() uses if code does not say which */
	uint64_t connections; /* which of those of pg_connect(): 0 for the process's */
} spindle_surroundings;

/* Finds where they are kept. `process`: those of the process, which has them now. */
void spindle_surroundings_prepare(spindle_surroundings *process);
/* Notes those of the running request. */
void spindle_surroundings_save(spindle_surroundings *to);
/* Begins with a copy of noted ones. */
void spindle_surroundings_begin(spindle_surroundings *this, const spindle_surroundings *base);
/* Releases what the running request has of connections. Their servers may be waited for. */
void spindle_surroundings_release(void);
/* `zone`: the setting date.timezone of that which runs next. */
void spindle_surroundings_switch(spindle_surroundings *from, spindle_surroundings *to, const zend_string *zone);
/* Releases those of a request that has ended, and does not run. */
void spindle_surroundings_end(spindle_surroundings *this);
/* At the end of PHP's request. `process`: those of the process. */
void spindle_surroundings_forget(spindle_surroundings *process);

#endif
