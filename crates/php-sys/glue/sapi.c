/* Native PHP requests in coroutines: the state that the engine keeps for the one request of a process is put aside while the
 * coroutines of another request run. See isolation/sapi.rs. */
#include "glue.h"
#include "instances.h"
#include "surroundings.h"

#include "SAPI.h"
#include "ext/standard/basic_functions.h"
#include "main/php_main.h"
#include "main/php_output.h"
#include "main/php_variables.h"
#include "main/rfc1867.h"
#include "zend_exceptions.h"
#include "zend_gc.h"
#if __has_include("ext/session/php_session.h")
# include "ext/session/php_session.h"
# define WITH_SESSION
#endif

/* Whole fields of the engine's globals that belong to a request: the macro of the globals, and the field. Fields that requests
 * share (settings, handlers of content types) are not here. */
#define FIELDS(FIELD) \
	FIELD(SG, server_context) \
	FIELD(SG, request_info) \
	FIELD(SG, sapi_headers) \
	FIELD(SG, read_post_bytes) \
	FIELD(SG, post_read) \
	FIELD(SG, headers_sent) \
	FIELD(SG, rfc1867_uploaded_files) \
	FIELD(SG, global_request_time) \
	FIELD(SG, callback_func) \
	FIELD(SG, fci_cache) \
	FIELD(PG, http_globals) \
	FIELD(PG, connection_status) \
	FIELD(PG, during_request_startup) \
	FIELD(PG, ignore_user_abort) \
	FIELD(PG, header_is_being_sent) \
	FIELD(PG, rfc1867_protected_variables) \
	FIELD(OG, handlers) \
	FIELD(OG, active) \
	FIELD(OG, flags) \
	FIELD(OG, output_start_filename) \
	FIELD(OG, output_start_lineno) \
	FIELD(BG, user_shutdown_function_names) \
	FIELD(EG, user_exception_handler) \
	FIELD(EG, user_exception_handlers) \
	FIELD(EG, exit_status) \
	PARSING_FIELDS(FIELD)

/* The arguments of request_parse_body(), while it reads. */
#ifdef SPINDLE_REQUEST_PARSE_BODY
# define PARSING_FIELDS(FIELD) FIELD(SG, request_parse_body_context)
#else
# define PARSING_FIELDS(FIELD)
#endif

/* The fields of ext/session. Its settings are those of the process. */
#define SESSION_FIELDS(FIELD) \
	FIELD(id) \
	FIELD(mod) \
	FIELD(default_mod) \
	FIELD(mod_data) \
	FIELD(session_status) \
	FIELD(mod_user_names) \
	FIELD(mod_user_implemented) \
	FIELD(mod_user_is_open) \
	FIELD(mod_user_class_name) \
	FIELD(http_session_vars) \
	FIELD(send_cookie) \
	FIELD(define_sid) \
	FIELD(rfc1867_progress) \
	FIELD(in_save_handler) \
	FIELD(set_handler) \
	FIELD(session_vars)

/* The maximal number of bytes that some releases have behind these fields in the globals of ext/session. */
#define MOST_ADDED 16

/* The first ones are in PG(http_globals), too, in another order. */
enum { GET, POST, COOKIE, SERVER, ENV, FILES, REQUEST, SESSION, SUPERGLOBALS };
#define TRACKED 6
static const uint8_t places_tracked[TRACKED] = {
	[GET] = TRACK_VARS_GET,
	[POST] = TRACK_VARS_POST,
	[COOKIE] = TRACK_VARS_COOKIE,
	[SERVER] = TRACK_VARS_SERVER,
	[ENV] = TRACK_VARS_ENV,
	[FILES] = TRACK_VARS_FILES,
};

/* The settings that are each request's own. Frameworks empty default_mimetype to send a response without a type, or with one of their
 * own; and libraries call set_time_limit(). */
enum { TYPE, TIME, ERRORS, ZONE, SETTINGS };
static const char *const setting_names[SETTINGS] = {
	[TYPE] = "default_mimetype",
	[TIME] = "max_execution_time",
	[ERRORS] = "display_errors",
	[ZONE] = "date.timezone",
};
static zend_ini_entry *settings[SETTINGS];

struct spindle_sapi {
#define DECLARE(macro, name) __typeof__(macro(name)) name;
	FIELDS(DECLARE)
#undef DECLARE
#ifdef WITH_SESSION
	struct session_fields {
# define DECLARE(name) __typeof__(((php_ps_globals *) 0)->name) name;
		SESSION_FIELDS(DECLARE)
# undef DECLARE
		char added[MOST_ADDED]; /* see session_added */
	} session;
#endif
	zval superglobals[SUPERGLOBALS];
	spindle_instance *left_in; /* whose variables have its superglobals, instead; NULL: none */
	zval sid; /* the value of the constant SID; undefined: the empty string */
	struct {
		zend_string *value, *orig_value; /* references of this request; NULL in the process's own while that runs */
		uint8_t modified, orig_modifiable;
	} settings[SETTINGS];
	spindle_surroundings surroundings;
	/* What the boot of an instance has left, with which requests begin. */
	struct {
		bool is_there;
		spindle_surroundings surroundings;
		zend_string *settings[SETTINGS];
	} left;
	zval *statics; /* as many as there were when it was made; undefined: not yet its own */
	spindle_request_handlers output;
	pid_t process; /* in which it was made */
	spindle_instance *instance; /* NULL: that of the script */
	spindle_sapi *base; /* whose handlers and variables it begins with: NULL: the process's */
	zval added; /* of the boot of an instance: see spindle_sapi_boot_ended() */
	spindle_sapi *previous, *next;
};

/* The process's own request. */
static spindle_sapi own;
/* The id of this process, which is kept to avoid a system call for each request. A child that serves requests
 * prepares itself for that. */
static pid_t process;
/* The request that was made last, and the one whose state the engine has. */
static spindle_sapi *last, *running;

/* ext/filter keeps copies of what all requests have sent in globals that only it knows: filter_input() would return values of
 * other requests. So it gets nothing while there are such requests. */
static unsigned int (*input_filter)(int arg, const char *var, char **val, size_t val_len, size_t *new_val_len);
static unsigned int (*input_filter_init)(void);

/* The function that getenv() asks before the environment. */
static char *(*other_getenv)(const char *name, size_t length);
static bool has_getenv;

static zend_string *names[SUPERGLOBALS];
/* Keys of $_SERVER, as long as PHP's request. */
static zend_string *request_time, *request_time_float;
static uint32_t places[SUPERGLOBALS];

/* The static properties of async.request_statics. Values are exchanged in place, because compiled code keeps their addresses. */
static zval **statics;
static uint32_t static_count;

#ifdef WITH_SESSION
static php_ps_globals *session;
/* The bytes behind the last field of a version's first release (in_rfc1867_update): fields that some later releases have there,
 * or padding, whichever release the module was built with. */
static char *session_added;
static size_t session_added_size;

/* Returns false if the module has globals other than the known ones. */
static bool find_session(const zend_module_entry *module)
{
	const size_t first = offsetof(php_ps_globals, session_vars) + sizeof(((php_ps_globals *) 0)->session_vars);

	session = NULL;
	session_added_size = 0;
	if (!module) {
		return true;
	}
	if (module->globals_size < first || module->globals_size - first > MOST_ADDED) {
		return false;
	}
	session_added = (char *) module->globals_ptr + first;
	session_added_size = module->globals_size - first;
	session = module->globals_ptr;
	return true;
}
#else
static bool find_session(const zend_module_entry *module)
{
	return !module;
}
#endif
static zend_module_entry *session_module;

/* The value of the constant SID, in which ext/session writes the id of the session that was started last; NULL while there is
 * no such constant. */
static zval *sid;
/* How many constants there were when it was looked for. */
static uint32_t constants_seen;

/* ext/zlib keeps the coding that ob_gzhandler() has found in the headers of the first request. It looks again if that is 0. Its
 * header is not installed everywhere. */
struct zlib_globals {
	zend_long output_compression;
	zend_long output_compression_level;
	char *output_handler;
	void *ob_gzhandler;
	zend_long output_compression_default;
	bool handler_registered;
	int compression_coding;
};
static int *compression_coding;

static zend_never_inline zval *find_superglobal(int which)
{
	HashTable *table = &EG(symbol_table);
	zval *value = zend_hash_find_known_hash(table, names[which]);

	if (!value) {
		zval null;

		ZVAL_NULL(&null);
		value = zend_hash_add_new(table, names[which], &null);
	}
	places[which] = (Bucket *) value - table->arData;
	return UNEXPECTED(Z_TYPE_P(value) == IS_INDIRECT) ? Z_INDIRECT_P(value) : value;
}

/* Returns the place of a superglobal's value, which becomes null if there is none. Each switch between requests asks for all of them. */
static zend_always_inline zval *superglobal(int which)
{
	uint32_t place = places[which];

	if (EXPECTED(place < EG(symbol_table).nNumUsed)) {
		Bucket *bucket = EG(symbol_table).arData + place;
		uint8_t type = Z_TYPE(bucket->val);

		if (EXPECTED(bucket->key == names[which] && type != IS_UNDEF && type != IS_INDIRECT)) {
			return &bucket->val;
		}
	}
	return find_superglobal(which);
}

/* Returns true for a variable that is in the environment of a CGI program. */
static bool is_of_cgi(const char *name, size_t length)
{
	static const char *const all[] = {"AUTH_TYPE", "CONTENT_LENGTH", "CONTENT_TYPE", "DOCUMENT_ROOT", "DOCUMENT_URI", "GATEWAY_INTERFACE",
		"HTTPS", "PATH_INFO", "PATH_TRANSLATED", "QUERY_STRING", "REMOTE_ADDR", "REMOTE_PORT", "REMOTE_USER", "REQUEST_METHOD",
		"REQUEST_SCHEME", "REQUEST_URI", "SCRIPT_FILENAME", "SCRIPT_NAME", "SERVER_ADDR", "SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL",
		"SERVER_SOFTWARE"};

	if (length > 5 && !memcmp(name, "HTTP_", 5)) {
		return true;
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (strlen(all[i]) == length && !memcmp(name, all[i], length)) {
			return true;
		}
	}
	return false;
}

/* Returns such a variable of the running request. It is copied before anything else runs. */
static char *request_getenv(const char *name, size_t length)
{
	zval *server = &PG(http_globals)[TRACK_VARS_SERVER];

	if (running && running != &own && is_of_cgi(name, length) && Z_TYPE_P(server) == IS_ARRAY) {
		zval *value = zend_hash_str_find(Z_ARRVAL_P(server), name, length);
		if (value && Z_TYPE_P(value) == IS_STRING) {
			return Z_STRVAL_P(value);
		}
	}
	return other_getenv ? other_getenv(name, length) : NULL;
}

/* The function in which PHP's own code for the end of a request runs: errors there name it. */
static zend_internal_arg_info no_arguments[1];
static zend_internal_function function = {.type = ZEND_INTERNAL_FUNCTION, .arg_info = no_arguments + 1};

static void enter_function(zend_execute_data *frame)
{
	memset(frame, 0, sizeof(*frame));
	frame->func = (zend_function *) &function;
	frame->prev_execute_data = EG(current_execute_data);
	EG(current_execute_data) = frame;
}

static void leave_function(zend_execute_data *frame)
{
	EG(current_execute_data) = frame->prev_execute_data;
}

/* Returns a string that lasts as long as the process. */
static zend_string *permanent(const char *text, size_t length)
{
	zend_string *string = zend_string_init(text, length, true);

	GC_MAKE_PERSISTENT_LOCAL(string);
	zend_string_hash_val(string);
	return string;
}

bool spindle_sapi_prepare(void)
{
	session_module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("session"));
	if (!find_session(session_module)) {
		return false;
	}
	process = getpid();
	request_time = request_time ? request_time : permanent(ZEND_STRL("REQUEST_TIME"));
	request_time_float = request_time_float ? request_time_float : permanent(ZEND_STRL("REQUEST_TIME_FLOAT"));
	static const char *const all[SUPERGLOBALS] = {"_GET", "_POST", "_COOKIE", "_SERVER", "_ENV", "_FILES", "_REQUEST", "_SESSION"};

	for (int i = 0; i < SUPERGLOBALS; i++) {
		if (!names[i]) {
			zend_auto_global *global = zend_hash_str_find_ptr(CG(auto_globals), all[i], strlen(all[i]));

			if (global && ZSTR_IS_INTERNED(global->name)) {
				names[i] = global->name; /* the engine's own, which the tables have as their key */
			} else {
				names[i] = permanent(all[i], strlen(all[i]));
			}
			zend_string_hash_val(names[i]);
		}
		places[i] = UINT32_MAX;
		/* Some are made when code first uses them, once in a process: each request makes its own. */
		zend_is_auto_global(names[i]);
	}
	if (!function.function_name) {
		function.function_name = permanent(ZEND_STRL("Async\\Http\\Server::run"));
	}
	if (sapi_module.input_filter != php_default_input_filter) {
		input_filter = sapi_module.input_filter;
		input_filter_init = sapi_module.input_filter_init;
		sapi_module.input_filter = php_default_input_filter;
		sapi_module.input_filter_init = NULL;
	}
	if (!has_getenv) {
		has_getenv = true;
		other_getenv = sapi_module.getenv;
		sapi_module.getenv = request_getenv;
	}
	for (int i = 0; i < SETTINGS; i++) {
		settings[i] = zend_hash_str_find_ptr(EG(ini_directives), setting_names[i], strlen(setting_names[i]));
	}
	spindle_surroundings_prepare(&own.surroundings);
	zend_module_entry *zlib = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("zlib"));
	if (zlib && zlib->globals_size == sizeof(struct zlib_globals)) {
		compression_coding = &((struct zlib_globals *) zlib->globals_ptr)->compression_coding;
	}
	return true;
}

bool spindle_sapi_add_static(zend_string *class_name, zend_string *property)
{
	zend_class_entry *ce = zend_lookup_class(class_name);
	__typeof__(EG(fake_scope)) scope = EG(fake_scope);
	zend_property_info *info;

	if (!ce) {
		return false;
	}
	EG(fake_scope) = ce; /* it may be private */
	zval *place = zend_std_get_static_property_with_info(ce, property, BP_VAR_IS, &info);
	EG(fake_scope) = scope;
	if (!place) {
		return false;
	}
	for (uint32_t i = 0; i < static_count; i++) {
		if (statics[i] == place) {
			return true;
		}
	}
	statics = realloc(statics, (static_count + 1) * sizeof(*statics));
	own.statics = realloc(own.statics, (static_count + 1) * sizeof(*own.statics));
	ZVAL_UNDEF(&own.statics[static_count]);
	statics[static_count++] = place;
	return true;
}

void spindle_sapi_forget_statics(void)
{
	if (input_filter) {
		sapi_module.input_filter = input_filter;
		sapi_module.input_filter_init = input_filter_init;
		input_filter = NULL;
	}
	if (has_getenv) {
		has_getenv = false;
		if (sapi_module.getenv == request_getenv) {
			sapi_module.getenv = other_getenv;
		}
	}
	sid = NULL;
	constants_seen = 0;
	zval_ptr_dtor(&own.sid);
	ZVAL_UNDEF(&own.sid);
	free(statics);
	free(own.statics);
	statics = NULL;
	own.statics = NULL;
	static_count = 0;
}

/* The structures of requests that have ended, to be reused: they are too large for the blocks that malloc() keeps
 * ready. */
static spindle_sapi *spare;
static int spare_count;
#define MOST_SPARE 64

/* How many requests there were that have connections of their own, as that in which an instance is booted. */
static uint64_t count_of_connections;

spindle_sapi *spindle_sapi_new(spindle_instance *instance, spindle_sapi *base)
{
	spindle_sapi *this = spare, *present = running ? running : &own;

	if (this) {
		spare = this->next;
		spare_count--;
		memset(this, 0, sizeof(*this));
	} else {
		this = calloc(1, sizeof(spindle_sapi));
		if (!this) {
			return NULL;
		}
	}
	if (static_count) {
		this->statics = calloc(static_count, sizeof(zval)); /* undefined */
	}
	/* As the process has it; the request has not changed it. */
	for (int i = 0; i < SETTINGS; i++) {
		zend_string *value = present == &own ? settings[i]->value : own.settings[i].value;
		this->settings[i].value = value ? zend_string_copy(value) : NULL;
	}
	if (present == &own) {
		spindle_surroundings_save(&own.surroundings);
	}
	spindle_surroundings_begin(&this->surroundings, &own.surroundings);
	/* An instance keeps its connections, as it keeps what has them; others are their request's. */
	if (!base || !instance) {
		count_of_connections++;
	}
	this->surroundings.connections = base && instance ? base->surroundings.connections : count_of_connections;
	this->process = process;
	this->instance = instance;
	this->base = base;
	this->previous = last;
	if (last) {
		last->next = this;
	}
	last = this;
	return this;
}

static void save(spindle_sapi *to)
{
#define SAVE(macro, name) memcpy(&to->name, &macro(name), sizeof(to->name));
	FIELDS(SAVE)
#undef SAVE
#ifdef WITH_SESSION
	if (session) {
# define SAVE(name) memcpy(&to->session.name, &session->name, sizeof(to->session.name));
		SESSION_FIELDS(SAVE)
# undef SAVE
		memcpy(to->session.added, session_added, session_added_size);
	}
#endif
	spindle_output_request_handlers(&to->output, NULL);
}

static void load(const spindle_sapi *from)
{
#define LOAD(macro, name) memcpy(&macro(name), &from->name, sizeof(from->name));
	FIELDS(LOAD)
#undef LOAD
#ifdef WITH_SESSION
	if (session) {
# define LOAD(name) memcpy(&session->name, &from->session.name, sizeof(from->session.name));
		SESSION_FIELDS(LOAD)
# undef LOAD
		memcpy(session_added, from->session.added, session_added_size);
	}
#endif
	spindle_output_request_handlers(NULL, &from->output);
}

static void switch_setting(int which, spindle_sapi *from, const spindle_sapi *to)
{
	zend_ini_entry *setting = settings[which];
	__typeof__(from->settings[0]) *before = &from->settings[which];
	const __typeof__(to->settings[0]) *next = &to->settings[which];

	before->value = setting->value;
	before->orig_value = setting->orig_value;
	before->modified = setting->modified;
	before->orig_modifiable = setting->orig_modifiable;
	setting->value = next->value;
	setting->orig_value = next->orig_value;
	setting->modified = next->modified;
	setting->orig_modifiable = next->orig_modifiable;
	/* PHP's end of a request restores those that are in this table, of the process. */
	if (UNEXPECTED(before->modified != next->modified)) {
		if (before->modified) {
			zend_hash_del(EG(modified_ini_directives), setting->name);
		} else {
			if (!EG(modified_ini_directives)) {
				ALLOC_HASHTABLE(EG(modified_ini_directives));
				zend_hash_init(EG(modified_ini_directives), 8, NULL, NULL, 0);
			}
			zend_hash_add_ptr(EG(modified_ini_directives), setting->name, setting);
		}
	}
}

static void switch_sid(spindle_sapi *from, spindle_sapi *to)
{
	if (UNEXPECTED(!sid)) {
		if (EXPECTED(constants_seen == EG(zend_constants)->nNumUsed)) {
			return; /* it is not there, since none was added */
		}
		zend_constant *constant = zend_hash_str_find_ptr(EG(zend_constants), ZEND_STRL("SID"));
		if (!constant) {
			constants_seen = EG(zend_constants)->nNumUsed;
			return;
		}
		sid = &constant->value;
	}
	ZVAL_COPY_VALUE(&from->sid, sid);
	if (Z_ISUNDEF(to->sid)) {
		ZVAL_EMPTY_STRING(sid);
	} else {
		ZVAL_COPY_VALUE(sid, &to->sid);
		ZVAL_UNDEF(&to->sid);
	}
}

static zend_always_inline void put_aside(zval *kept, const zval *value)
{
	if (UNEXPECTED(Z_ISUNDEF_P(value))) {
		ZVAL_NULL(kept);
	} else {
		ZVAL_COPY_VALUE(kept, value);
	}
}

static zend_always_inline void put_back(zval *value, const zval *kept)
{
	if (UNEXPECTED(Z_ISUNDEF_P(kept))) {
		ZVAL_NULL(value);
	} else {
		ZVAL_COPY_VALUE(value, kept);
	}
}

/* An instance has a table of its own for them. As a rule the next request that runs in it is the one that is left now, so they stay
 * there. Those of the process's own request are asked for by others. */
static void leave_superglobals(spindle_sapi *from, bool is_released)
{
	if (EXPECTED(from->instance && !is_released)) {
		from->left_in = from->instance;
		from->instance->superglobals_of = from;
		return;
	}
	for (int i = 0; i < SUPERGLOBALS; i++) {
		zval *value = superglobal(i);

		put_aside(&from->superglobals[i], value);
		ZVAL_NULL(value);
	}
}

void spindle_sapi_superglobals_end(spindle_sapi *of)
{
	of->left_in->superglobals_of = NULL;
	of->left_in = NULL;
}

/* The code that runs in its instance then, such as a destructor that the cycle collector calls, is to see nothing of a client. */
void spindle_sapi_superglobals_aside(spindle_sapi *of)
{
	spindle_sapi_superglobals_end(of);
	for (int i = 0; i < SUPERGLOBALS; i++) {
		zval *value = superglobal(i);

		put_aside(&of->superglobals[i], value);
		ZVAL_NULL(value);
	}
}

/* Its instance runs. */
static void find_superglobals(spindle_sapi *to)
{
	spindle_sapi *other = to->instance ? to->instance->superglobals_of : NULL;

	if (other) {
		spindle_sapi_superglobals_end(other);
	}
	if (EXPECTED(other == to)) {
		return;
	}
	for (int i = 0; i < SUPERGLOBALS; i++) {
		zval *value = superglobal(i);

		if (other) {
			put_aside(&other->superglobals[i], value);
		}
		put_back(value, &to->superglobals[i]);
	}
}

void spindle_sapi_switch(spindle_sapi *from, spindle_sapi *to, bool is_released)
{
	from = from ? from : &own;
	to = to ? to : &own;
	running = to;
	if (!is_released) {
		save(from);
	}
	load(to);
	for (int i = 0; i < SETTINGS; i++) {
		switch_setting(i, from, to);
	}
	SG(default_mimetype) = settings[TYPE]->value ? ZSTR_VAL(settings[TYPE]->value) : NULL;
	spindle_surroundings_switch(&from->surroundings, &to->surroundings, settings[ZONE]->value);
	if (session_module) {
		switch_sid(from, to);
	}
	if (compression_coding) {
		*compression_coding = 0;
	}
	if (EXPECTED(from->instance == to->instance)) {
		for (int i = 0; i < SUPERGLOBALS; i++) {
			zval *value = superglobal(i);

			put_aside(&from->superglobals[i], value);
			put_back(value, &to->superglobals[i]);
		}
	} else {
		leave_superglobals(from, is_released);
		spindle_instance_switch(to->instance);
		find_superglobals(to);
	}
	for (uint32_t i = 0; i < static_count; i++) {
		ZVAL_COPY_VALUE(&from->statics[i], statics[i]);
		if (to == &own || !Z_ISUNDEF(to->statics[i])) {
			ZVAL_COPY_VALUE(statics[i], &to->statics[i]);
		} else {
			ZVAL_COPY_DEREF(statics[i], &own.statics[i]); /* it begins with what the process has */
		}
	}
}

static void set_superglobal(int which, zval *to)
{
	zval *value = superglobal(which), before;

	ZVAL_COPY_VALUE(&before, value);
	ZVAL_COPY_VALUE(value, to);
	zval_ptr_dtor(&before);
}

static void create(int which)
{
	zend_auto_global *global = zend_hash_find_ptr(CG(auto_globals), names[which]);

	if (global && global->auto_global_callback) {
		global->auto_global_callback(global->name);
	}
}

/* Lets the reader of its type, and the default one, read the body. PHP's function for this is not exported by all releases. */
static void read_body(const char *content_type)
{
	size_t length = strcspn(content_type, ";, ");
	char *type = estrdup(content_type);

	zend_str_tolower(type, length);
	SG(request_info).post_entry = zend_hash_str_find_ptr(&SG(known_post_content_types), type, length);
	SG(request_info).content_type_dup = type;
	if (SG(request_info).post_entry && SG(request_info).post_entry->post_reader) {
		SG(request_info).post_entry->post_reader();
	}
	if (sapi_module.default_post_reader) {
		sapi_module.default_post_reader();
	}
}

/* Remembers what the boot of an instance, which has ended, has put into $_SERVER, as libraries do that read settings from a file:
 * requests of the instance begin with it. */
void spindle_sapi_boot_ended(void)
{
	zval *process = &own.superglobals[SERVER], *server = superglobal(SERVER), *value;
	zend_string *name;

	if (running->instance) {
		instance_extensions_note(&running->instance->booted);
	}
	spindle_surroundings_save(&running->surroundings);
	spindle_surroundings_begin(&running->left.surroundings, &running->surroundings);
	for (int i = ERRORS; i < SETTINGS; i++) {
		running->left.settings[i] = settings[i]->value ? zend_string_copy(settings[i]->value) : NULL;
	}
	running->left.is_there = true;
	ZVAL_DEREF(server);
	ZVAL_DEREF(process);
	if (Z_TYPE_P(server) != IS_ARRAY || Z_TYPE_P(process) != IS_ARRAY) {
		return;
	}
	ZEND_HASH_FOREACH_STR_KEY_VAL(Z_ARRVAL_P(server), name, value) {
		if (name && !zend_hash_exists(Z_ARRVAL_P(process), name)) {
			if (Z_ISUNDEF(running->added)) {
				array_init(&running->added);
			}
			ZVAL_DEREF(value);
			Z_TRY_ADDREF_P(value);
			zend_hash_update(Z_ARRVAL(running->added), name, value);
		}
	} ZEND_HASH_FOREACH_END();
}

/* Lets the running request, which has changed nothing yet, begin with what the boot of its instance has left. */
static void begin_after_boot(spindle_sapi *boot)
{
	spindle_surroundings unused = running->surroundings;

	if (!boot->left.is_there) {
		return;
	}
	for (int i = ERRORS; i < SETTINGS; i++) {
		zend_string *before = settings[i]->value;

		settings[i]->value = boot->left.settings[i] ? zend_string_copy(boot->left.settings[i]) : NULL;
		if (before) {
			zend_string_release(before);
		}
	}
	spindle_surroundings_begin(&running->surroundings, &boot->left.surroundings);
	spindle_surroundings_switch(&unused, &running->surroundings, settings[ZONE]->value);
	spindle_surroundings_end(&unused);
}

#ifdef WITH_SESSION
/* Lets the running request begin with the session handlers that the boot of its instance has set. */
static void begin_with_handlers(const struct session_fields *boot)
{
	const zval *handlers = (const zval *) &boot->mod_user_names;
	zval *own_handlers = (zval *) &session->mod_user_names;
	bool has_some = false;

	for (size_t i = 0; i < sizeof(boot->mod_user_names) / sizeof(zval); i++) {
		if (!Z_ISUNDEF(handlers[i])) {
			ZVAL_COPY(&own_handlers[i], &handlers[i]);
			has_some = true;
		}
	}
	if (has_some) {
		session->mod = boot->mod;
		session->default_mod = boot->default_mod;
		session->mod_user_class_name = boot->mod_user_class_name ? zend_string_copy(boot->mod_user_class_name) : NULL;
	}
}
#endif

void spindle_sapi_begin(const spindle_sapi_head *head, zval *server, zend_long buffer)
{
	spindle_sapi *base = running->base ? running->base : &own;
	zval environment, of_process;
	zend_execute_data frame;

	if (!server) {
		server = &own.superglobals[SERVER];
		ZVAL_DEREF(server);
		ZVAL_ARR(&of_process, Z_TYPE_P(server) == IS_ARRAY ? zend_array_dup(Z_ARRVAL_P(server)) : zend_new_array(0));
		server = &of_process;
	} else {
		ZVAL_UNDEF(&of_process);
	}
	if (running->base) {
		begin_after_boot(running->base);
	}
	enter_function(&frame);
	PG(during_request_startup) = true;
	php_output_activate();
	SG(server_context) = NULL;
	SG(request_info).request_method = head->method;
	SG(request_info).request_uri = (char *) head->uri;
	SG(request_info).query_string = (char *) head->query;
	SG(request_info).content_type = head->content_type;
	SG(request_info).content_length = head->content_length;
	SG(request_info).cookie_data = (char *) head->cookies;
	SG(request_info).path_translated = own.request_info.path_translated;
	sapi_activate();
	SG(request_info).proto_num = head->protocol;
	SG(sapi_headers).http_response_code = 200; /* as PHP's other servers do */
	PG(ignore_user_abort) = own.ignore_user_abort;
	zend_stack_init(&EG(user_exception_handlers), sizeof(zval));
	ZVAL_COPY(&EG(user_exception_handler), &base->user_exception_handler);
	php_handle_auth_data(head->authorization);
	if (PG(expose_php)) {
		sapi_add_header(SAPI_PHP_VERSION_HEADER, sizeof(SAPI_PHP_VERSION_HEADER) - 1, true);
	}
	if (buffer > 0) {
		php_output_start_user(NULL, buffer > 1 ? buffer : 0, PHP_OUTPUT_HANDLER_STDFLAGS);
		spindle_output_begin(true);
	}
	if (PG(enable_post_data_reading) && head->content_type && head->method && !strcmp(head->method, "POST")) {
		read_body(head->content_type);
		if (head->content_length < 0 && SG(post_read)) {
			add_assoc_str(server, "CONTENT_LENGTH", zend_long_to_str(SG(read_post_bytes)));
		}
	}

	if (SG(request_info).auth_user) {
		add_assoc_string(server, "PHP_AUTH_USER", SG(request_info).auth_user);
	}
	if (SG(request_info).auth_password) {
		add_assoc_string(server, "PHP_AUTH_PW", SG(request_info).auth_password);
	}
	if (SG(request_info).auth_digest) {
		add_assoc_string(server, "PHP_AUTH_DIGEST", SG(request_info).auth_digest);
	}
	if (Z_TYPE(base->added) == IS_ARRAY) {
		zend_hash_merge(Z_ARRVAL_P(server), Z_ARRVAL(base->added), zval_add_ref, false);
	}
	zval time;
	ZVAL_DOUBLE(&time, sapi_get_request_time());
	zend_hash_update(Z_ARRVAL_P(server), request_time_float, &time);
	ZVAL_LONG(&time, (zend_long) Z_DVAL(time));
	zend_hash_update(Z_ARRVAL_P(server), request_time, &time);
	ZVAL_COPY(&PG(http_globals)[TRACK_VARS_SERVER], server);
	Z_ADDREF_P(server);
	set_superglobal(SERVER, server);
	create(GET);
	create(POST);
	create(COOKIE);
	create(FILES);
	create(REQUEST);
	/* Like everything that concerns the environment, it belongs to the process: what it has put there before. */
	ZVAL_COPY_DEREF(&environment, &base->superglobals[ENV]);
	set_superglobal(ENV, &environment);

	if (session_module && session_module->request_startup_func) {
		session_module->request_startup_func(session_module->type, session_module->module_number);
	}
#ifdef WITH_SESSION
	if (session && session->session_status == php_session_none && own.session.mod) {
		session->mod = own.session.mod; /* not the one that another request has set, which has changed the setting */
		session->default_mod = own.session.default_mod;
	}
	if (session && running->base) {
		begin_with_handlers(&running->base->session);
	}
#endif
	PG(during_request_startup) = false;
	leave_function(&frame);
	zval_ptr_dtor(&of_process);
}

void spindle_sapi_call_shutdown_functions(void)
{
	zend_execute_data frame;

	enter_function(&frame);
	php_call_shutdown_functions();
	php_free_shutdown_functions();
	leave_function(&frame);
}

void spindle_sapi_close_session(void)
{
	zend_execute_data frame;

	enter_function(&frame);
	if (session_module && session_module->request_shutdown_func) {
		session_module->request_shutdown_func(session_module->type, session_module->module_number);
	}
	if (running->base && running->instance) {
		instance_extensions_restore(running->instance);
	}
	leave_function(&frame);
}

void spindle_sapi_abort_session(void)
{
	const zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("session"));
	zend_execute_data frame;
	zval result;

	/* Of the module: the function itself may be disabled. */
	for (const zend_function_entry *one = module ? module->functions : NULL; one && one->fname; one++) {
		if (strcmp(one->fname, "session_abort") == 0) {
			enter_function(&frame);
			one->handler(&frame, &result);
			leave_function(&frame);
			return;
		}
	}
}

void spindle_sapi_end_buffers(void)
{
	zend_execute_data frame;

	enter_function(&frame);
	php_output_end_all();
	leave_function(&frame);
}

/* Sends the headers. Output that follows is dropped. */
void spindle_sapi_end_output(void)
{
	zend_execute_data frame;

	enter_function(&frame);
	php_output_deactivate();
	leave_function(&frame);
	php_output_activate();
	OG(flags) |= PHP_OUTPUT_DISABLED;
	spindle_output_begin(false);
	SG(headers_sent) = 1;
	SG(request_info).no_headers = 1;
}

/* Closes the handles of php://input that read from this body, which is freed. */
static void close_input(php_stream *body)
{
	zend_resource *resource;
	int type = php_file_le_stream();

	ZEND_HASH_FOREACH_PTR(&EG(regular_list), resource) {
		php_stream *stream = resource->ptr;
		if (resource->type == type && stream && !strcmp(stream->ops->label, "Input") && *(php_stream **) stream->abstract == body) {
			zend_list_close(resource);
		}
	} ZEND_HASH_FOREACH_END();
	php_stream_close(body);
}

/* Frees what the request has had from the client. Its superglobals stay. */
void spindle_sapi_end(void)
{
	php_stream *body = SG(request_info).request_body;
	bool started = SG(sapi_started);

	sapi_deactivate();
	if (body) {
		close_input(body);
	}
	SG(sapi_started) = started;
	memset(&SG(request_info), 0, sizeof(SG(request_info)));
	memset(&SG(sapi_headers), 0, sizeof(SG(sapi_headers)));
	zend_llist_init(&SG(sapi_headers).headers, sizeof(sapi_header_struct), (void (*)(void *)) sapi_free_header, 0);
	SG(request_info).no_headers = 1;
	SG(headers_sent) = 1;
	SG(post_read) = 1;
}

static void drop(zval *value)
{
	zval before;

	ZVAL_COPY_VALUE(&before, value);
	ZVAL_UNDEF(value);
	zval_ptr_dtor(&before);
}

/* Releases the values that the running request still has, also what its coroutines have opened after its end. No coroutine of it
 * runs afterwards. */
void spindle_sapi_release(void)
{
	php_stream *body = SG(request_info).request_body;

#ifdef WITH_SESSION
	if (session && (session->session_status == php_session_active || session->mod_data)) {
		spindle_sapi_close_session();
	}
#endif
	if (body) {
		SG(request_info).request_body = NULL;
		close_input(body);
	}
	for (int i = 0; i < SUPERGLOBALS; i++) {
		zval *value = superglobal(i), before;

		ZVAL_COPY_VALUE(&before, value);
		ZVAL_NULL(value);
		if (i < TRACKED) {
			zval *tracked = &PG(http_globals)[places_tracked[i]];

			if (EXPECTED(Z_TYPE_P(tracked) == IS_ARRAY && Z_REFCOUNTED_P(tracked) && Z_TYPE(before) == IS_ARRAY
					&& Z_ARR_P(tracked) == Z_ARR(before))) {
				Z_DELREF_P(tracked); /* not the last one: the collector need not visit the array */
				ZVAL_UNDEF(tracked);
			} else {
				drop(tracked);
			}
		}
		zval_ptr_dtor(&before);
	}
	drop(&running->added);
	spindle_surroundings_release();
	drop(&SG(callback_func));
	drop(&EG(user_exception_handler));
	if (EG(user_exception_handlers).elements) {
		zend_stack_clean(&EG(user_exception_handlers), (void (*)(void *)) zval_ptr_dtor, true);
	}
	php_free_shutdown_functions();
	for (int i = 0; i < SETTINGS; i++) {
		if (settings[i]->modified) {
			zend_restore_ini_entry(settings[i]->name, ZEND_INI_STAGE_RUNTIME);
		}
	}
	if (sid) {
		zval_ptr_dtor(sid);
		ZVAL_EMPTY_STRING(sid);
	}
	for (uint32_t i = 0; i < static_count; i++) {
		zval before;

		ZVAL_COPY_VALUE(&before, statics[i]);
		ZVAL_NULL(statics[i]);
		zval_ptr_dtor(&before);
	}
}

/* Removes the uploaded files of requests that did not end. At the end of PHP's request. PHP removes those of the running one. */
void spindle_sapi_abandon(void)
{
	HashTable *present = SG(rfc1867_uploaded_files);

	spindle_surroundings_forget(&own.surroundings);
	for (spindle_sapi *one = last; one; one = one->previous) {
		/* A child process must not remove what its parent still uses. */
		if (one != running && one->rfc1867_uploaded_files && one->process == getpid()) {
			SG(rfc1867_uploaded_files) = one->rfc1867_uploaded_files;
			one->rfc1867_uploaded_files = NULL;
			destroy_uploaded_files_hash();
		}
	}
	SG(rfc1867_uploaded_files) = present;
}

void spindle_sapi_free(spindle_sapi *this)
{
	if (this->left_in) {
		spindle_sapi_superglobals_end(this);
	}
	if (this->next) {
		this->next->previous = this->previous;
	} else {
		last = this->previous;
	}
	if (this->previous) {
		this->previous->next = this->next;
	}
	for (int i = 0; i < SETTINGS; i++) {
		if (this->settings[i].value && !this->settings[i].modified) {
			zend_string_release(this->settings[i].value);
		}
	}
	spindle_surroundings_end(&this->surroundings);
	if (this->left.is_there) {
		spindle_surroundings_end(&this->left.surroundings);
		for (int i = ERRORS; i < SETTINGS; i++) {
			if (this->left.settings[i]) {
				zend_string_release(this->left.settings[i]);
			}
		}
	}
	free(this->statics);
	if (spare_count < MOST_SPARE) {
		this->next = spare;
		spare = this;
		spare_count++;
	} else {
		free(this);
	}
}

/* --- what happens to a request ---------------------------------------------------------------------------------------- */

/* Records that its client is gone: the script ends at the next output that is sent to it, unless it ignores that. NULL: the
 * request that is in place. */
void spindle_sapi_aborted(spindle_sapi *of)
{
	if (of) {
		of->connection_status |= PHP_CONNECTION_ABORTED;
	} else {
		PG(connection_status) |= PHP_CONNECTION_ABORTED;
	}
}

bool spindle_sapi_output_failed(void)
{
	PG(connection_status) |= PHP_CONNECTION_ABORTED;
	OG(flags) |= PHP_OUTPUT_DISABLED;
	return !PG(ignore_user_abort);
}

/* Sets the status of a response of which nothing has been sent. */
bool spindle_sapi_set_status(int status)
{
	if (SG(headers_sent)) {
		return false;
	}
	SG(sapi_headers).http_response_code = status;
	if (SG(sapi_headers).http_status_line) {
		efree(SG(sapi_headers).http_status_line);
		SG(sapi_headers).http_status_line = NULL;
	}
	return true;
}

/* Returns the status line that code has set; NULL if it has set none. */
const char *spindle_sapi_status_line(void)
{
	return SG(sapi_headers).http_status_line;
}

/* Returns true in the child of the process in which the running request was made. */
bool spindle_sapi_is_in_child(void)
{
	return running && running != &own && running->process != getpid();
}

int spindle_sapi_exit_status(void)
{
	return EG(exit_status);
}

/* Makes it the status with which the process ends. */
void spindle_sapi_set_own_exit_status(int status)
{
	own.exit_status = status;
}

/* Returns a text of $_SERVER as it is outside of requests. */
void spindle_sapi_server_text(const char *name, zval *text)
{
	zval *server = superglobal(SERVER);
	zval *found;

	ZVAL_DEREF(server);
	found = Z_TYPE_P(server) == IS_ARRAY ? zend_hash_str_find(Z_ARRVAL_P(server), name, strlen(name)) : NULL;
	if (found && Z_TYPE_P(found) == IS_STRING) {
		ZVAL_COPY(text, found);
	} else {
		ZVAL_NULL(text);
	}
}

/* Returns $_SERVER as the running request has begun with it. */
void spindle_sapi_server(zval *server)
{
	ZVAL_COPY(server, &PG(http_globals)[TRACK_VARS_SERVER]);
}

int spindle_sapi_status(void)
{
	return SG(sapi_headers).http_response_code;
}

void spindle_sapi_send_headers(void)
{
	if (!SG(headers_sent)) {
		sapi_send_headers();
	}
}

void spindle_sapi_exception_handler(zval *handler)
{
	if (Z_ISUNDEF(EG(user_exception_handler))) {
		ZVAL_NULL(handler);
	} else {
		ZVAL_COPY(handler, &EG(user_exception_handler));
	}
}

/* Reports an exception as PHP does one that no code has caught. */
void spindle_sapi_uncaught(zend_object *exception)
{
	GC_ADDREF(exception);
	zend_exception_error(exception, E_ERROR);
}

void spindle_sapi_each_header(void (*each)(void *with, const char *text, size_t length), void *with)
{
	for (zend_llist_element *element = SG(sapi_headers).headers.head; element; element = element->next) {
		const sapi_header_struct *header = (const sapi_header_struct *) element->data;
		each(with, header->header, header->header_len);
	}
}

/* --- fatal errors ------------------------------------------------------------------------------------------------------- */

static void (*errors_to)(int, zend_string *, const uint32_t, zend_string *);
static bool (*is_survived)(void);
static bool (*is_php_alone)(void);
static bool was_asked_for;

bool spindle_sapi_fatal_was_asked_for(void)
{
	return was_asked_for;
}

#define FATAL (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR | E_PARSE)

/* Reports as PHP does. PHP would then keep the destructors of all objects of the process from running. */
static void on_error(int type, zend_string *file, const uint32_t line, zend_string *message)
{
	was_asked_for = false;
	if (!(type & FATAL) || (type & E_DONT_BAIL) || !is_survived()) {
		errors_to(type, file, line, message);
		return;
	}
	if (!SG(headers_sent)) {
		SG(sapi_headers).http_response_code = 500;
	}
	was_asked_for = type == E_USER_ERROR && is_php_alone();
	errors_to(type | E_DONT_BAIL, file, line, message);
	zend_set_memory_limit(PG(memory_limit));
	zend_bailout();
}

void spindle_sapi_watch_errors(bool (*survived)(void), bool (*php_alone)(void))
{
	is_survived = survived;
	is_php_alone = php_alone;
	if (zend_error_cb != on_error) {
		errors_to = zend_error_cb;
		zend_error_cb = on_error;
	}
}

void spindle_sapi_watch_no_errors(void)
{
	if (zend_error_cb == on_error) {
		zend_error_cb = errors_to;
	}
}

/* Restores the engine's state after a bailout that has ended at the place where this frame and stack were current. */
void spindle_sapi_survive(zend_execute_data *frame, const spindle_vm_stack *stack)
{
	EG(vm_stack) = stack->stack;
	EG(vm_stack_top) = stack->top;
	EG(vm_stack_end) = stack->end;
	EG(vm_stack_page_size) = stack->page_size;
	EG(current_execute_data) = frame;
	EG(fake_scope) = NULL;
	EG(error_handling) = EH_NORMAL;
	EG(exception_class) = NULL;
	EG(filename_override) = NULL;
	EG(lineno_override) = -1;
	if (OG(running)) {
		OG(running)->flags |= PHP_OUTPUT_HANDLER_DISABLED; /* it would fail again */
		OG(running) = NULL;
	}
	PG(in_error_log) = false;
	PG(in_user_include) = false;
	PG(during_request_startup) = false;
	CG(unclean_shutdown) = 0;
#ifdef ZEND_HAS_OOM
	EG(delayed_oom).state = ZEND_OOM_STATE_NONE; /* else no code runs any more */
#endif
	gc_protect(false);
	spindle_instances_survive(running ? running->instance : NULL);
}

/* --- time limits ------------------------------------------------------------------------------------------------------ */

/* PHP's time limit is a timer of the process, which would end whatever runs when it expires. While a server runs there is none, and a
 * limit belongs to the code that has set it: see observe/limits.rs. */
static zend_ini_entry *time_setting;
static bool (*set_limit)(zend_long seconds);
static __typeof__(((zend_ini_entry *) 0)->on_modify) set_timer;

static ZEND_INI_MH(on_time_limit)
{
	zend_long seconds = ZEND_STRTOL(ZSTR_VAL(new_value), NULL, 0);

	if (stage != ZEND_INI_STAGE_RUNTIME && stage != ZEND_INI_STAGE_HTACCESS) {
		return set_timer(entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage);
	}
	if (!set_limit(seconds)) {
		EG(timeout_seconds) = seconds; /* for those that begin later */
	}
	return SUCCESS;
}

/* Returns the limit of code that has set none. */
zend_long spindle_time_limit(void)
{
	return EG(timeout_seconds) > 0 ? EG(timeout_seconds) : 0;
}

void spindle_time_limit_watch(bool (*set)(zend_long seconds))
{
	set_limit = set;
	if (!time_setting) {
		time_setting = zend_hash_str_find_ptr(EG(ini_directives), ZEND_STRL("max_execution_time"));
		set_timer = time_setting->on_modify;
		time_setting->on_modify = on_time_limit;
		zend_unset_timeout();
	}
}

void spindle_time_limit_watch_no_more(bool begins)
{
	if (!time_setting) {
		return;
	}
	time_setting->on_modify = set_timer;
	time_setting = NULL;
	if (begins && EG(timeout_seconds) > 0) {
		zend_set_timeout(EG(timeout_seconds), false);
	}
}

void spindle_time_limit_restore(void)
{
	if (time_setting && time_setting->modified) {
		zend_restore_ini_entry(time_setting->name, ZEND_INI_STAGE_RUNTIME);
	}
}

/* Reports this fatal error without ending the script. */
void spindle_time_is_over(zend_string *error)
{
	int status = EG(exit_status);

	zend_error_at(E_ERROR | E_DONT_BAIL, zend_get_executed_filename_ex(), zend_get_executed_lineno(), "%s", ZSTR_VAL(error));
	if (running == NULL || running == &own) {
		EG(exit_status) = status; /* of the process */
	}
}
