/* A function that is called when a request ends, before the shutdown functions of user code. */
#include "glue.h"

#include "ext/standard/basic_functions.h"

static ZEND_NAMED_FUNCTION(request_ends)
{
	ZEND_PARSE_PARAMETERS_NONE();
	spindle_request_ends();
}

static zend_internal_arg_info no_arguments[1];
static zend_internal_function function = {
	.type = ZEND_INTERNAL_FUNCTION,
	.arg_info = no_arguments + 1,
	.handler = request_ends,
};

void spindle_watch_request_end(void)
{
	HashTable *before = BG(user_shutdown_function_names);
	php_shutdown_function_entry entry = {0};
	void *function_before;

	if (!function.function_name) {
		/* Not in braces: Xdebug takes that for a function of PHP code. */
		function.function_name = zend_string_init("Async\\endOfRequest", strlen("Async\\endOfRequest"), true);
		GC_MAKE_PERSISTENT_LOCAL(function.function_name);
	}
	/* The cached function is called. Up to PHP 8.4 there is a name beside it, which is not looked up. A closure would use
	 * up the id of an object. */
#ifndef SPINDLE_CACHED_SHUTDOWN_FUNCTIONS
	entry.fci.size = sizeof(zend_fcall_info);
	ZVAL_EMPTY_STRING(&entry.fci.function_name);
#endif
	entry.fci_cache.function_handler = (zend_function *) &function;
	/* Only this function of the engine knows the table's destructor: the entry is added to a new table, and the
	 * others are appended to that. */
	BG(user_shutdown_function_names) = NULL;
	append_user_shutdown_function(&entry);
	if (before) {
		ZEND_HASH_FOREACH_PTR(before, function_before) {
			zend_hash_next_index_insert_ptr(BG(user_shutdown_function_names), function_before);
		} ZEND_HASH_FOREACH_END();
		before->pDestructor = NULL;
		zend_hash_destroy(before);
		FREE_HASHTABLE(before);
	}
}
