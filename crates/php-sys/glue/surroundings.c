/* What code of a request changes of its process, and others would see: time zone, locale, working directory, the encoding of mbstring,
 * whether errors are displayed, the errors of the last calls, and the connections of pg_connect(). Each request begins with what the boot
 * of its instance has left, or the process has. They are exchanged in a switch between requests, and only where the two differ that costs
 * more than a few moves. */
#include "glue.h"
#include "surroundings.h"

#include "ext/date/php_date.h"
#include "ext/json/php_json.h"
#include "ext/pcre/php_pcre.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/php_filestat.h"
#include "php_globals.h"

#include <fcntl.h>
#include <locale.h>
#include <unistd.h>

/* What begins the globals of ext/mbstring, whose header says less than how a module was built. */
static struct {
	const char *internal_encoding_name;
	const void *internal_encoding;
	const struct {
		int number;
		const char *name;
	} *current_internal_encoding;
} *mbstring;

static zend_date_globals *date;

/* The globals of ext/pgsql, whose header is not installed. */
static struct pgsql_globals {
	zend_long links, persistent_links, most_links, most_persistent_links;
	bool allows_persistent;
	int ignores_notices;
	zend_long resets_persistent;
	int logs_notices;
	zend_object *default_link;
	HashTable tables[3];
} *pgsql;

/* The locale that code has not changed. */
static char *first_locale;

/* A working directory, as a descriptor: one that is removed stays the one of those who are in it. */
struct spindle_directory {
	int descriptor;
	unsigned holders;
};

/* That of those that have not changed it; NULL: nobody has. And whose the present one is. */
static struct spindle_directory *first_directory;
static spindle_surroundings *running;
static zif_handler other_chdir;

static struct pgsql_globals *find_pgsql(void)
{
	const zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("pgsql"));
	struct pgsql_globals *globals = module && module->globals_size == sizeof(*globals) ? module->globals_ptr : NULL;

	/* Those are names of types and tables; they would not be there if the fields were others. */
	if (globals && globals->tables[0].pDestructor && globals->tables[0].pDestructor == globals->tables[1].pDestructor) {
		return globals;
	}
	return NULL;
}

zend_object *spindle_pgsql_link(void)
{
	const struct pgsql_globals *globals = find_pgsql();

	return globals ? globals->default_link : NULL;
}

static void find_globals(void)
{
	const zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("date"));
	zval name, encoding;

	date = module && module->globals_size == sizeof(*date) ? module->globals_ptr : NULL;
	pgsql = find_pgsql();
	module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("mbstring"));
	mbstring = module && module->globals_size >= sizeof(*mbstring) ? module->globals_ptr : NULL;
	if (mbstring && !zend_hash_str_exists(CG(function_table), ZEND_STRL("mb_internal_encoding"))) {
		mbstring = NULL; /* it is disabled, so nobody changes it */
	}
	if (mbstring) {
		/* It is where it is expected if it is the one that the function returns. */
		ZVAL_STR(&name, spindle_string_intern(ZEND_STRL("mb_internal_encoding")));
		if (call_user_function(NULL, NULL, &name, &encoding, 0, NULL) != SUCCESS || Z_TYPE(encoding) != IS_STRING
				|| strcmp(Z_STRVAL(encoding), mbstring->current_internal_encoding->name) != 0) {
			mbstring = NULL;
		}
		zval_ptr_dtor(&encoding);
		zval_ptr_dtor(&name);
	}
}

/* Returns the present directory; NULL: it could not be entered again. */
static struct spindle_directory *present_directory(void)
{
	int descriptor = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct spindle_directory *this;

	if (descriptor == -1) {
		return NULL;
	}
	this = malloc(sizeof(*this));
	this->descriptor = descriptor;
	this->holders = 1;
	return this;
}

static void leave_directory(struct spindle_directory *this)
{
	if (this && --this->holders == 0) {
		close(this->descriptor);
		free(this);
	}
}

static struct spindle_directory *directory_of(const spindle_surroundings *of)
{
	return of->directory ? of->directory : first_directory;
}

/* Enters a directory. One that cannot be entered any more is as one in which nothing is: code must not find files of another one. */
static void enter_directory(const struct spindle_directory *this)
{
	char nowhere[] = "/tmp/spindle-nowhere-XXXXXX";

	php_clear_stat_cache(false, NULL, 0); /* what is known of relative names */
	if (fchdir(this->descriptor) != 0 && mkdtemp(nowhere)) {
		zend_result ignored = chdir(nowhere) == 0 ? SUCCESS : chdir("/");

		(void) ignored;
		rmdir(nowhere);
	}
}

static ZEND_FUNCTION(chdir_of_request)
{
	struct spindle_directory *now;

	if (!first_directory && !(first_directory = present_directory())) {
		php_error_docref(NULL, E_WARNING, "The present directory could not be entered again: %s", strerror(errno));
		RETURN_FALSE;
	}
	other_chdir(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	if (Z_TYPE_P(return_value) != IS_TRUE) {
		return;
	}
	now = present_directory();
	if (!now) {
		int why = errno;

		enter_directory(directory_of(running));
		php_error_docref(NULL, E_WARNING, "The directory could not be entered again: %s", strerror(why));
		RETURN_FALSE;
	}
	leave_directory(running->directory);
	running->directory = now;
}

/* pg_connect() as it is. It returns the connection that it has for the same arguments, also for its flags of which it knows nothing. */
static zend_internal_function connect_pgsql;
#define UNKNOWN_FLAGS 16

static ZEND_FUNCTION(pg_connect_of_request)
{
	zend_string *parameters;
	zend_long flags = 0;
	zval arguments[2];

	if (!running->connections) {
		connect_pgsql.handler(INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_STR(parameters)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(flags)
	ZEND_PARSE_PARAMETERS_END();
	ZVAL_STR(&arguments[0], parameters);
	ZVAL_LONG(&arguments[1], flags | (zend_long) (running->connections << UNKNOWN_FLAGS));
	zend_call_known_function((zend_function *) &connect_pgsql, NULL, NULL, return_value, 2, arguments, NULL);
}

bool spindle_is_in_front(zif_handler handler)
{
	return handler == ZEND_FN(chdir_of_request) || handler == ZEND_FN(pg_connect_of_request);
}

static zend_internal_function *function_of(const char *name)
{
	zend_function *function = zend_hash_str_find_ptr(CG(function_table), name, strlen(name));

	return function && function->type == ZEND_INTERNAL_FUNCTION ? &function->internal_function : NULL;
}

void spindle_surroundings_prepare(spindle_surroundings *process)
{
	zend_internal_function *function = function_of("chdir"), *connect = function_of("pg_connect");

	if (running) {
		return;
	}
	find_globals();
	running = process;
	process->directory = NULL;
	first_locale = strdup(setlocale(LC_ALL, NULL));
	if (function) {
		other_chdir = function->handler;
		function->handler = ZEND_FN(chdir_of_request);
	}
	if (connect) {
		connect_pgsql = *connect;
		connect->handler = ZEND_FN(pg_connect_of_request);
	}
}

void spindle_surroundings_forget(spindle_surroundings *process)
{
	zend_internal_function *function = function_of("chdir"), *connect = function_of("pg_connect");

	if (!running) {
		return;
	}
	if (function && function->handler == ZEND_FN(chdir_of_request)) {
		function->handler = other_chdir;
	}
	if (connect && connect->handler == ZEND_FN(pg_connect_of_request)) {
		connect->handler = connect_pgsql.handler;
	}
	free(first_locale);
	free(process->locale);
	process->locale = first_locale = NULL;
	leave_directory(process->directory);
	leave_directory(first_directory);
	process->directory = first_directory = NULL;
	running = NULL;
}

void spindle_surroundings_save(spindle_surroundings *to)
{
	to->display_errors = PG(display_errors);
	to->timezone = date ? date->timezone : NULL;
	to->encoding = mbstring ? mbstring->current_internal_encoding : NULL;
	to->json_error = JSON_G(error_code);
	to->pcre_error = PCRE_G(error_code);
	to->date_errors = date ? date->last_errors : NULL;
	to->pgsql_link = pgsql ? pgsql->default_link : NULL;
	if (UNEXPECTED(BG(locale_changed))) {
		const char *locale = setlocale(LC_ALL, NULL);

		if (!to->locale || strcmp(to->locale, locale) != 0) {
			free(to->locale);
			to->locale = strdup(locale);
		}
	}
	to->is_locale_changed = BG(locale_changed);
	to->ctype = BG(ctype_string);
}

void spindle_surroundings_begin(spindle_surroundings *this, const spindle_surroundings *base)
{
	*this = *base;
	this->timezone = base->timezone ? estrdup(base->timezone) : NULL;
	this->locale = base->locale ? strdup(base->locale) : NULL;
	this->ctype = base->ctype ? zend_string_copy(base->ctype) : NULL;
	this->json_error = this->pcre_error = 0;
	this->date_errors = NULL;
	if (this->directory) {
		this->directory->holders++;
	}
	if (this->pgsql_link) {
		GC_ADDREF(this->pgsql_link);
	}
}

void spindle_surroundings_release(void)
{
	if (pgsql && pgsql->default_link) {
		zend_object *link = pgsql->default_link;

		pgsql->default_link = NULL;
		OBJ_RELEASE(link);
	}
}

static const char *locale_of(const spindle_surroundings *of)
{
	return of->locale ? of->locale : first_locale;
}

void spindle_surroundings_switch(spindle_surroundings *from, spindle_surroundings *to, const zend_string *zone)
{
	spindle_surroundings_save(from);
	PG(display_errors) = to->display_errors;
	if (EXPECTED(date)) {
		date->timezone = to->timezone;
		date->last_errors = to->date_errors;
		date->default_timezone = zone ? (char *) ZSTR_VAL(zone) : NULL;
	}
	JSON_G(error_code) = to->json_error;
	PCRE_G(error_code) = to->pcre_error;
	if (mbstring) {
		mbstring->current_internal_encoding = to->encoding;
	}
	if (pgsql) {
		pgsql->default_link = to->pgsql_link;
	}
	if (UNEXPECTED(!running)) {
		return; /* PHP's request has ended */
	}
	if (UNEXPECTED(from->is_locale_changed || to->is_locale_changed) && strcmp(locale_of(from), locale_of(to)) != 0) {
		setlocale(LC_ALL, locale_of(to));
		zend_update_current_locale();
	}
	BG(locale_changed) = to->is_locale_changed;
	BG(ctype_string) = to->ctype;
	if (UNEXPECTED(directory_of(from) != directory_of(to))) {
		enter_directory(directory_of(to));
	}
	running = to;
}

static void free_messages(timelib_error_message *messages, int count)
{
	for (int i = 0; i < count; i++) {
		efree(messages[i].message);
	}
	efree(messages);
}

static void free_date_errors(timelib_error_container *errors)
{
	free_messages(errors->warning_messages, errors->warning_count);
	free_messages(errors->error_messages, errors->error_count);
	efree(errors);
}

void spindle_surroundings_end(spindle_surroundings *this)
{
	if (this->timezone) {
		efree(this->timezone);
	}
	free(this->locale);
	if (this->ctype) {
		zend_string_release(this->ctype);
	}
	leave_directory(this->directory);
	if (this->date_errors) {
		free_date_errors(this->date_errors);
	}
	if (this->pgsql_link) {
		OBJ_RELEASE(this->pgsql_link);
	}
}
