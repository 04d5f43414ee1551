/* Code that comes piece by piece (`php -a`, `php -R`): that it has ended is known when the request does. */
#include "glue.h"

#include "ext/standard/basic_functions.h"
#include "zend_closures.h"

static ZEND_NAMED_FUNCTION(session_ended)
{
	ZEND_PARSE_PARAMETERS_NONE();
	spindle_session_ended();
}

static zend_internal_arg_info no_arguments[1];
static zend_internal_function function = {
	.type = ZEND_INTERNAL_FUNCTION,
	.arg_info = no_arguments + 1,
	.handler = session_ended,
};

void spindle_watch_session(void)
{
	php_shutdown_function_entry entry;
	zval closure;

	if (!function.function_name) {
		function.function_name = zend_string_init("{end of input}", strlen("{end of input}"), true);
	}
	zend_create_fake_closure(&closure, (zend_function *) &function, NULL, NULL, NULL);
	if (zend_fcall_info_init(&closure, 0, &entry.fci, &entry.fci_cache, NULL, NULL) == SUCCESS) {
		append_user_shutdown_function(&entry); /* the first of all: no code has run yet */
	}
}
