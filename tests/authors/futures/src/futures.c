/* futures_run(string $kind, int $count = 1): string, futures_spawn(string $kind, bool $fails = false): Coroutine, and
 * futures_dropped(): int; what they do is in lib.rs. */
#include "php.h"
#include "zend_exceptions.h"

extern int authors_run(const char *kind, size_t length, int64_t count);
extern zend_object *authors_spawn(const char *kind, size_t length, void (*give)(zval *));
extern int64_t authors_dropped(void);

ZEND_BEGIN_ARG_INFO_EX(arginfo_any, 0, 0, 0)
    ZEND_ARG_VARIADIC_INFO(0, arguments)
ZEND_END_ARG_INFO()

/* Says how it has ended, and how many futures had been dropped when it did. */
static PHP_FUNCTION(futures_run)
{
    char *kind;
    size_t length;
    zend_long count = 1;
    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STRING(kind, length)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(count)
    ZEND_PARSE_PARAMETERS_END();
    int before = (int) authors_dropped(), ended = authors_run(kind, length, count);
    bool is_thrown = EG(exception) != NULL;
    zend_string *text = strpprintf(0, "%s, %d dropped", ended == 0 ? "ready" : ended == 1 ? "cancelled" : "unknown", (int) authors_dropped() - before);
    if (ended == 1) {
        php_printf("%s, the exception is %s\n", ZSTR_VAL(text), is_thrown ? "there" : "to come");
    }
    RETURN_STR(text);
}

static void give(zval *result)
{
    ZVAL_STRING(result, "ready");
}

static void fail(zval *result)
{
    zend_throw_exception(NULL, "the result is wrong", 0);
}

static PHP_FUNCTION(futures_spawn)
{
    char *kind;
    size_t length;
    bool fails = false;
    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STRING(kind, length)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(fails)
    ZEND_PARSE_PARAMETERS_END();
    zend_object *coroutine = authors_spawn(kind, length, fails ? fail : give);
    if (coroutine != NULL) {
        RETURN_OBJ(coroutine);
    }
}

static PHP_FUNCTION(futures_dropped)
{
    RETURN_LONG((zend_long) authors_dropped());
}

static const zend_function_entry functions[] = {
    PHP_FE(futures_run, arginfo_any)
    PHP_FE(futures_spawn, arginfo_any)
    PHP_FE(futures_dropped, arginfo_any)
    PHP_FE_END
};

zend_module_entry authors_futures_module_entry = {
    STANDARD_MODULE_HEADER, "authors_futures", functions, NULL, NULL, NULL, NULL, NULL, "1", STANDARD_MODULE_PROPERTIES
};
