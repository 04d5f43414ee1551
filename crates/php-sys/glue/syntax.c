/* Access to the engine's macros and globals for the operators. */
#include "php.h"
#include "zend_closures.h"
#include "zend_exceptions.h"
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
	/* The error has been reported. With this handle the compiler fails without reporting it again. */
	if (file->type == ZEND_HANDLE_STREAM) {
		file->handle.stream.isatty = 0;
		file->handle.stream.fsizer = no_size;
	} else {
		file->type = ZEND_HANDLE_FP;
		file->handle.fp = NULL;
	}
	return false;
}

char *spindle_file_room(size_t length)
{
	char *room = safe_emalloc(1, length, ZEND_MMAP_AHEAD);

	memset(room + length, 0, ZEND_MMAP_AHEAD); /* the scanner reads ahead */
	return room;
}

void spindle_file_replace(zend_file_handle *file, char *text, size_t length)
{
	efree(file->buf);
	file->buf = text;
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

	/* The compiler's exceptions get the compiler's position. */
	CG(compiled_filename) = file;
	CG(zend_lineno) = line;
	zend_throw_exception(zend_ce_parse_error, message, 0);
	CG(compiled_filename) = compiled;
	CG(zend_lineno) = compiled_line;
}

bool spindle_closure_of(zval *callee, zval *of, zval *closure)
{
	if (!of) {
		ZVAL_COPY_DEREF(closure, callee);
	} else if (call_user_function(NULL, NULL, of, closure, 1, callee) != SUCCESS || EG(exception)) {
		return false;
	}
	if (Z_TYPE_P(closure) == IS_OBJECT && Z_OBJCE_P(closure) == zend_ce_closure) {
		return true;
	}
	zend_type_error("Async\\Syntax\\call() takes a closure, %s given", zend_zval_type_name(closure));
	return false;
}

zend_function *spindle_magic_method(const zend_function *function)
{
	zend_class_entry *ce = function->common.scope;
	zend_function *own;

	if (function->type != ZEND_INTERNAL_FUNCTION || function->internal_function.module || !ce) {
		return NULL;
	}
	/* The engine has created it for the closure, or for an enumeration, which has it in its table. There may also be a
	   method of this name that its caller must not see. */
	own = zend_hash_find_ptr_lc(&ce->function_table, function->common.function_name);
	if (own && own->type == ZEND_INTERNAL_FUNCTION && !own->internal_function.module) {
		return NULL;
	}
	return function->common.fn_flags & ZEND_ACC_STATIC ? ce->__callstatic : ce->__call;
}

void spindle_magic_arguments(zval *to, zend_string *name, zend_execute_data *call, HashTable *named)
{
	bool is_internal = call->func && call->func->type == ZEND_INTERNAL_FUNCTION;
	uint32_t argc = is_internal ? ZEND_CALL_NUM_ARGS(call) : 0;
	zval *args = ZEND_CALL_ARG(call, 1);
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

ZEND_METHOD(Async_Syntax_Call, __invoke);

void spindle_proxy_of(zend_internal_function *proxy, const zend_function *function)
{
	memset(proxy, 0, sizeof(*proxy));
	proxy->type = ZEND_INTERNAL_FUNCTION;
	memcpy(proxy->arg_flags, function->common.arg_flags, sizeof(proxy->arg_flags));
	proxy->fn_flags = ZEND_ACC_PUBLIC | ZEND_ACC_NEVER_CACHE | (function->common.fn_flags & (ZEND_ACC_VARIADIC | ZEND_ACC_USER_ARG_INFO));
	if (function->type == ZEND_USER_FUNCTION) {
		/* Omitted arguments in between stay undefined: the function itself has their defaults. */
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
	proxy->handler = zim_Async_Syntax_Call___invoke;
	proxy->module = &spindle_module_entry;
}

void spindle_resolve_closure(zend_object *closure, zend_class_entry **scope, zend_function **function, zend_object **object)
{
	if (closure->handlers->get_closure) {
		closure->handlers->get_closure(closure, scope, function, object, 0);
	}
}
