/* What the operators need of the engine's macros and globals. */
#include "php.h"
#include "zend_closures.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"
#include "zend_language_scanner.h"
#include "zend_multibyte.h"
#include "zend_stream.h"
#include "glue.h"

bool spindle_files_are_recoded(void)
{
	if (CG(multibyte)) {
		for (size_t i = 0; i < CG(script_encoding_list_size); i++) {
			if (!zend_multibyte_check_lexer_compatibility(CG(script_encoding_list)[i])) {
				return true;
			}
		}
	}
	return false;
}

static size_t no_size(void *handle)
{
	return (size_t) -1;
}

bool spindle_file_source(zend_file_handle *file, const char **text, size_t *length)
{
	char *buffer;

	if (zend_stream_fixup(file, &buffer, length) == SUCCESS) {
		*text = buffer;
		return true;
	}
	/* What could be said of it has been said. Asked again, this handle fails without a word. */
	if (file->type == ZEND_HANDLE_STREAM) {
		file->handle.stream.isatty = 0;
		file->handle.stream.fsizer = no_size;
	} else {
		file->type = ZEND_HANDLE_FP;
		file->handle.fp = NULL;
	}
	return false;
}

void spindle_file_replace(zend_file_handle *file, const char *text, size_t length)
{
	char *buffer = safe_emalloc(1, length, ZEND_MMAP_AHEAD);

	memcpy(buffer, text, length);
	memset(buffer + length, 0, ZEND_MMAP_AHEAD); /* the scanner reads ahead */
	efree(file->buf);
	file->buf = buffer;
	file->len = length;
}

static size_t grown_by;
static zend_ast_process_t ast_process_before;

/* The first thing that is parsed after spindle_source_has_grown() is the source itself. */
static void correct_halt_offset(zend_ast *ast)
{
	size_t bytes = grown_by;
	zend_ast *last = ast;

	spindle_source_has_grown(0);
	while (last && last->kind == ZEND_AST_STMT_LIST) {
		zend_ast_list *list = zend_ast_get_list(last);
		last = list->children ? list->child[list->children - 1] : NULL;
	}
	if (last && last->kind == ZEND_AST_HALT_COMPILER) {
		Z_LVAL_P(zend_ast_get_zval(last->child[0])) -= bytes;
	}
	if (zend_ast_process) {
		zend_ast_process(ast);
	}
}

void spindle_source_has_grown(size_t bytes)
{
	grown_by = bytes;
	if (bytes && zend_ast_process != correct_halt_offset) {
		ast_process_before = zend_ast_process;
		zend_ast_process = correct_halt_offset;
	} else if (!bytes && zend_ast_process == correct_halt_offset) {
		zend_ast_process = ast_process_before;
	}
}

void spindle_parse_error(zend_string *file, uint32_t line, const char *message)
{
	zend_string *compiled = CG(compiled_filename);
	uint32_t compiled_line = CG(zend_lineno);

	/* Where the compiler is, is where its exceptions say they come from. */
	CG(compiled_filename) = file;
	CG(zend_lineno) = line;
	zend_throw_exception(zend_ce_parse_error, message, 0);
	CG(compiled_filename) = compiled;
	CG(zend_lineno) = compiled_line;
}

#if PHP_VERSION_ID < 80300
# define zend_zval_value_name zend_zval_type_name
#endif

/* Lets go of a function that the engine has made for a method that does not exist: it makes one again. */
static bool is_of_the_moment(zend_function *function)
{
	if (!(function->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE)) {
		return false;
	}
	zend_string_release(function->common.function_name);
	zend_free_trampoline(function);
	return true;
}

/* What follows finds what the engine would call; false: what the call would throw is thrown. *found stays NULL for a method
 * that only __call() or __callStatic() answers: closures of those the engine makes itself. */
static bool find_function(zend_string *name, zend_function **found)
{
	const char *text = ZSTR_VAL(name) + (*ZSTR_VAL(name) == '\\');
	zend_string *lower = zend_string_init(text, ZSTR_LEN(name) - (text - ZSTR_VAL(name)), false);

	zend_str_tolower(ZSTR_VAL(lower), ZSTR_LEN(lower));
	*found = zend_fetch_function(lower);
	zend_string_release(lower);
	if (!*found) {
		zend_throw_error(NULL, "Call to undefined function %s()", ZSTR_VAL(name));
	}
	return *found != NULL;
}

static bool find_static(zend_string *of, zend_string *name, zend_class_entry **ce, zend_function **found)
{
	*ce = zend_fetch_class_by_name(of, NULL, ZEND_FETCH_CLASS_DEFAULT | ZEND_FETCH_CLASS_EXCEPTION);
	if (!*ce) {
		return false;
	}
	*found = (*ce)->get_static_method ? (*ce)->get_static_method(*ce, name) : zend_std_get_static_method(*ce, name, NULL);
	if (!*found) {
		if (!EG(exception)) {
			zend_throw_error(NULL, "Call to undefined method %s::%s()", ZSTR_VAL((*ce)->name), ZSTR_VAL(name));
		}
		return false;
	}
	if (is_of_the_moment(*found)) {
		*found = NULL;
	} else if (!((*found)->common.fn_flags & ZEND_ACC_STATIC)) {
		zend_throw_error(NULL, "Non-static method %s::%s() cannot be called statically",
			ZSTR_VAL((*found)->common.scope->name), ZSTR_VAL((*found)->common.function_name));
		return false;
	}
	return true;
}

static bool find_method(zend_object **object, zend_string *name, zend_function **found)
{
	*found = (*object)->handlers->get_method(object, name, NULL);
	if (!*found) {
		if (!EG(exception)) {
			zend_throw_error(NULL, "Call to undefined method %s::%s()", ZSTR_VAL((*object)->ce->name), ZSTR_VAL(name));
		}
		return false;
	}
	if (is_of_the_moment(*found)) {
		*found = NULL;
	}
	return true;
}

/* What `$callable()` would call. */
static bool find_callable(zval *callable, zend_function **found, zend_class_entry **ce, zend_object **object)
{
	zend_string *name;
	const char *colon;

	switch (Z_TYPE_P(callable)) {
		case IS_STRING: {
			name = Z_STR_P(callable);
			colon = zend_memrchr(ZSTR_VAL(name), ':', ZSTR_LEN(name));
			if (!colon || colon == ZSTR_VAL(name) || colon[-1] != ':') {
				return find_function(name, found);
			}
			zend_string *of = zend_string_init(ZSTR_VAL(name), colon - 1 - ZSTR_VAL(name), false);
			zend_string *method = zend_string_init(colon + 1, ZSTR_VAL(name) + ZSTR_LEN(name) - colon - 1, false);
			bool done = find_static(of, method, ce, found);
			zend_string_release(of);
			zend_string_release(method);
			return done;
		}
		case IS_ARRAY: {
			zval *of = zend_hash_index_find(Z_ARR_P(callable), 0);
			zval *method = zend_hash_index_find(Z_ARR_P(callable), 1);

			if (zend_hash_num_elements(Z_ARR_P(callable)) != 2) {
				zend_throw_error(NULL, "Array callback must have exactly two elements");
				return false;
			}
			if (!of || !method) {
				zend_throw_error(NULL, "Array callback has to contain indices 0 and 1");
				return false;
			}
			ZVAL_DEREF(of);
			ZVAL_DEREF(method);
			if (Z_TYPE_P(of) != IS_STRING && Z_TYPE_P(of) != IS_OBJECT) {
				zend_throw_error(NULL, "First array member is not a valid class name or object");
				return false;
			}
			if (Z_TYPE_P(method) != IS_STRING) {
				zend_throw_error(NULL, "Second array member is not a valid method");
				return false;
			}
			if (Z_TYPE_P(of) == IS_STRING) {
				return find_static(Z_STR_P(of), Z_STR_P(method), ce, found);
			}
			*object = Z_OBJ_P(of);
			return find_method(object, Z_STR_P(method), found);
		}
		case IS_OBJECT:
			*object = Z_OBJ_P(callable);
			if ((*object)->handlers->get_closure && (*object)->handlers->get_closure(*object, ce, found, object, false) == SUCCESS) {
				return true;
			}
			zend_throw_error(NULL, "Object of type %s is not callable", ZSTR_VAL(Z_OBJCE_P(callable)->name));
			return false;
		default:
			zend_throw_error(NULL, "Value of type %s is not callable", zend_zval_value_name(callable));
			return false;
	}
}

bool spindle_make_closure(zval *callee, zval *method, zval *closure)
{
	zend_function *function = NULL;
	zend_class_entry *ce = NULL;
	zend_object *object = NULL;
	zval callable, this_ptr;

	if (Z_TYPE_P(callee) == IS_OBJECT && Z_OBJCE_P(callee) == zend_ce_closure
		&& (!method || (Z_TYPE_P(method) == IS_STRING && zend_string_equals_literal_ci(Z_STR_P(method), "__invoke")))) {
		ZVAL_COPY(closure, callee);
		return true;
	}
	if (!method) {
		if (!find_callable(callee, &function, &ce, &object)) {
			return false;
		}
	} else if (Z_TYPE_P(method) != IS_STRING) {
		zend_throw_error(NULL, "Method name must be a string");
		return false;
	} else if (Z_TYPE_P(callee) != IS_OBJECT) {
		zend_throw_error(NULL, "Call to a member function %s() on %s", Z_STRVAL_P(method), zend_zval_value_name(callee));
		return false;
	} else {
		object = Z_OBJ_P(callee);
		if (!find_method(&object, Z_STR_P(method), &function)) {
			return false;
		}
	}
	if (function) {
		if (function->common.fn_flags & ZEND_ACC_STATIC) {
			ce = object ? object->ce : ce;
			object = NULL;
		}
		if (object) {
			ZVAL_OBJ(&this_ptr, object);
		}
		zend_create_fake_closure(closure, function, function->common.scope, object ? object->ce : ce, object ? &this_ptr : NULL);
		return true;
	}
	if (method) {
		array_init_size(&callable, 2);
		Z_TRY_ADDREF_P(callee);
		zend_hash_next_index_insert_new(Z_ARRVAL(callable), callee);
		Z_TRY_ADDREF_P(method);
		zend_hash_next_index_insert_new(Z_ARRVAL(callable), method);
	} else {
		ZVAL_COPY(&callable, callee);
	}
	ZVAL_UNDEF(closure);
	/* It sees what its caller's caller may see, passing over functions without a class. */
	zend_call_method_with_1_params(NULL, zend_ce_closure, NULL, "fromcallable", closure, &callable);
	zval_ptr_dtor(&callable);
	return !EG(exception) && Z_TYPE_P(closure) == IS_OBJECT;
}

zval *spindle_arguments(zend_execute_data *call)
{
	return ZEND_CALL_ARG(call, 1);
}

zend_function *spindle_magic_method(const zend_function *function)
{
	zend_class_entry *ce = function->common.scope;

	/* Made by the engine for the closure; all other internal functions say what they take. */
	if (function->type != ZEND_INTERNAL_FUNCTION || function->common.arg_info || !ce) {
		return NULL;
	}
	return function->common.fn_flags & ZEND_ACC_STATIC ? ce->__callstatic : ce->__call;
}

void spindle_magic_arguments(zval *to, zend_string *name, uint32_t argc, zval *args, HashTable *named)
{
	zend_array *list = zend_new_array(argc + (named ? zend_hash_num_elements(named) : 0));
	zend_string *key;
	zval *value;

	for (uint32_t i = 0; i < argc; i++) {
		value = &args[i];
		ZVAL_DEREF(value);
		Z_TRY_ADDREF_P(value);
		zend_hash_next_index_insert_new(list, value);
	}
	if (named) {
		ZEND_HASH_FOREACH_STR_KEY_VAL(named, key, value) {
			ZVAL_DEREF(value);
			Z_TRY_ADDREF_P(value);
			zend_hash_add_new(list, key, value);
		} ZEND_HASH_FOREACH_END();
	}
	ZVAL_STR_COPY(&to[0], name);
	ZVAL_ARR(&to[1], list);
}

static const zend_internal_arg_info any_arguments[] = {
	ZEND_ARG_VARIADIC_INFO(0, arguments)
};

void spindle_proxy_of(zend_internal_function *proxy, const zend_function *function, zif_handler handler)
{
	memset(proxy, 0, sizeof(*proxy));
	proxy->type = ZEND_INTERNAL_FUNCTION;
	memcpy(proxy->arg_flags, function->common.arg_flags, sizeof(proxy->arg_flags));
	proxy->fn_flags = ZEND_ACC_PUBLIC | ZEND_ACC_NEVER_CACHE | (function->common.fn_flags & (ZEND_ACC_VARIADIC | ZEND_ACC_USER_ARG_INFO));
	if (function->type == ZEND_USER_FUNCTION) {
		/* Arguments that are left out in between stay so: the function itself has their defaults. */
		proxy->fn_flags |= ZEND_ACC_USER_ARG_INFO;
	}
	proxy->function_name = function->common.function_name;
	proxy->scope = function->common.scope;
	proxy->num_args = function->common.num_args;
	proxy->required_num_args = function->common.required_num_args;
	proxy->arg_info = (zend_internal_arg_info *) function->common.arg_info;
	if (spindle_magic_method(function)) {
		proxy->fn_flags |= ZEND_ACC_VARIADIC;
		proxy->arg_info = (zend_internal_arg_info *) any_arguments;
	}
	proxy->handler = handler;
	proxy->module = &spindle_module_entry;
}
