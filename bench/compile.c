/*
 * A PHP module for suite/compile.php: it times the compiler alone. Nothing is read, run or kept.
 *
 *     bench_compile(string $source, string $name, bool $rewritten): ?array{int, int}
 *
 * With $rewritten through the hook of the module that is loaded, else by the engine itself. It gives nanoseconds, and a
 * sum over all instructions and their lines: two sources with one sum are one program. Null, and a ParseError, where
 * the source is refused.
 *
 *     bench_bypass(bool $bypassed): void
 *
 * For suite/compile-opcache.php: from now on what opcache gets to keep comes from the engine's compiler itself, and not
 * from the module that was loaded before this one.
 */
#include "php.h"
#include "zend_arena.h"
#include "zend_exceptions.h"
#include "zend_language_scanner.h"
#include "zend_stream.h"

#include <string.h>
#include <time.h>

typedef zend_op_array *(*compiler)(zend_file_handle *, int);

static compiler wrapped;
static bool bypassed;

static zend_op_array *compile_either(zend_file_handle *file, int type)
{
	return (bypassed ? compile_file : wrapped)(file, type);
}

static PHP_MINIT_FUNCTION(bench)
{
	(void) type;
	(void) module_number;
	wrapped = zend_compile_file;
	zend_compile_file = compile_either; /* opcache wraps it later */
	return SUCCESS;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t sum_of(const zend_op_array *code, uint64_t sum)
{
	for (uint32_t i = 0; i < code->last; i++) {
		sum = (sum ^ code->opcodes[i].opcode) * 1099511628211u;
		sum = (sum ^ code->opcodes[i].lineno) * 1099511628211u;
	}
	for (uint32_t i = 0; i < code->num_dynamic_func_defs; i++) {
		sum = sum_of(code->dynamic_func_defs[i], sum);
	}
	return sum;
}

static uint64_t sum_of_functions(HashTable *functions, uint32_t from, uint64_t sum)
{
	zend_function *function;
	uint32_t i = 0;

	ZEND_HASH_FOREACH_PTR(functions, function) {
		if (i++ >= from && function->type == ZEND_USER_FUNCTION) {
			sum = sum_of(&function->op_array, sum);
		}
	} ZEND_HASH_FOREACH_END();
	return sum;
}

static uint64_t sum_of_classes(HashTable *classes, uint32_t from, uint64_t sum)
{
	zval *class;
	uint32_t i = 0;

	ZEND_HASH_FOREACH_VAL(classes, class) {
		if (i++ >= from && Z_TYPE_P(class) == IS_PTR) {
			sum = sum_of_functions(&((zend_class_entry *) Z_PTR_P(class))->function_table, 0, sum);
		}
	} ZEND_HASH_FOREACH_END();
	return sum;
}

static uint32_t declared;

static int forget(zval *unused)
{
	(void) unused;
	return declared-- > 0 ? ZEND_HASH_APPLY_REMOVE : ZEND_HASH_APPLY_STOP;
}

/* Takes out of a table what has come into it. */
static void shrink(HashTable *table, uint32_t size)
{
	declared = zend_hash_num_elements(table) - size;
	zend_hash_reverse_apply(table, forget);
}

ZEND_BEGIN_ARG_INFO_EX(arginfo_bench_compile, 0, 0, 3)
	ZEND_ARG_TYPE_INFO(0, source, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, rewritten, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_FUNCTION(bench_compile)
{
	zend_string *source, *name;
	bool rewritten;
	zend_file_handle file;
	zend_op_array *code;
	uint32_t functions = zend_hash_num_elements(CG(function_table));
	uint32_t classes = zend_hash_num_elements(CG(class_table));
	void *arena = zend_arena_checkpoint(CG(arena));
	uint64_t start, end, sum = 14695981039346656037u;

	ZEND_PARSE_PARAMETERS_START(3, 3)
		Z_PARAM_STR(source)
		Z_PARAM_STR(name)
		Z_PARAM_BOOL(rewritten)
	ZEND_PARSE_PARAMETERS_END();

	if (rewritten && wrapped == compile_file) {
		zend_throw_error(NULL, "nothing has wrapped the compiler");
		RETURN_THROWS();
	}
	zend_stream_init_filename_ex(&file, name);
	file.len = ZSTR_LEN(source);
	file.buf = safe_emalloc(1, file.len, ZEND_MMAP_AHEAD);
	memcpy(file.buf, ZSTR_VAL(source), file.len);
	memset(file.buf + file.len, 0, ZEND_MMAP_AHEAD);

	start = now();
	code = rewritten ? zend_compile_file(&file, ZEND_INCLUDE) : compile_file(&file, ZEND_INCLUDE);
	end = now();

	zend_destroy_file_handle(&file);
	if (code) {
		sum = sum_of(code, sum);
		sum = sum_of_functions(CG(function_table), functions, sum);
		sum = sum_of_classes(CG(class_table), classes, sum);
		zend_destroy_static_vars(code);
		destroy_op_array(code);
		efree_size(code, sizeof(*code));
		array_init_size(return_value, 2);
		add_next_index_long(return_value, (zend_long) (end - start));
		add_next_index_long(return_value, (zend_long) sum);
	}
	shrink(CG(class_table), classes);
	shrink(CG(function_table), functions);
	zend_arena_release(&CG(arena), arena);
}

ZEND_BEGIN_ARG_INFO_EX(arginfo_bench_bypass, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, bypassed, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_FUNCTION(bench_bypass)
{
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_BOOL(bypassed)
	ZEND_PARSE_PARAMETERS_END();
}

static const zend_function_entry bench_functions[] = {
	ZEND_FE(bench_compile, arginfo_bench_compile)
	ZEND_FE(bench_bypass, arginfo_bench_bypass)
	ZEND_FE_END
};

static zend_module_entry bench_module_entry = {
	STANDARD_MODULE_HEADER,
	"bench",
	bench_functions,
	PHP_MINIT(bench),
	NULL, NULL, NULL, NULL,
	"1",
	STANDARD_MODULE_PROPERTIES
};

ZEND_GET_MODULE(bench)
