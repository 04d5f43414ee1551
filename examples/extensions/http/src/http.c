/* Acme\Http, as PHP sees it. What it does is in lib.rs. */
#include "php.h"
#include "zend_exceptions.h"

enum { GOT, FAILED, CANCELLED };
typedef void (*use_text)(zval *result, const char *text, size_t length);
extern int acme_http_get(const char *url, size_t length, use_text give, zval *result);
extern zend_object *acme_http_start(const char *url, size_t length, use_text give, use_text fail);
extern void acme_http_starts(const zend_module_entry *module);

static void give(zval *result, const char *text, size_t length)
{
    ZVAL_STRINGL(result, text, length);
}

static void fail(zval *result, const char *text, size_t length)
{
    zend_throw_exception_ex(NULL, 0, "%.*s", (int) length, text);
}

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_start, 0, 1, Async\\Awaitable, 0)
    ZEND_ARG_TYPE_INFO(0, url, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_get, 0, 1, IS_STRING, 0)
    ZEND_ARG_TYPE_INFO(0, url, IS_STRING, 0)
ZEND_END_ARG_INFO()

static PHP_METHOD(Acme_Http, get)
{
    char *url;
    size_t length;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STRING(url, length)
    ZEND_PARSE_PARAMETERS_END();
    zval text;
    switch (acme_http_get(url, length, give, &text)) {
        case GOT:
            RETURN_COPY_VALUE(&text);
        case FAILED:
            zend_throw_exception(NULL, Z_STRVAL(text), 0);
            zval_ptr_dtor(&text);
            return;
        case CANCELLED: /* the exception comes when this has returned */
            RETURN_EMPTY_STRING();
    }
}

static PHP_METHOD(Acme_Http, start)
{
    char *url;
    size_t length;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STRING(url, length)
    ZEND_PARSE_PARAMETERS_END();
    zend_object *coroutine = acme_http_start(url, length, give, fail);
    if (coroutine != NULL) {
        RETURN_OBJ(coroutine);
    }
    if (EG(exception) == NULL) {
        zend_throw_error(NULL, "Acme\\Http::start() needs Spindle: use get()");
    }
}

static const zend_function_entry methods[] = {
    PHP_ME(Acme_Http, get, arginfo_get, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
    PHP_ME(Acme_Http, start, arginfo_start, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
    PHP_FE_END
};

zend_module_entry acme_http_module_entry;

static PHP_MINIT_FUNCTION(acme_http)
{
    zend_class_entry class;
    INIT_NS_CLASS_ENTRY(class, "Acme", "Http", methods);
    zend_register_internal_class(&class)->ce_flags |= ZEND_ACC_FINAL;
    acme_http_starts(&acme_http_module_entry);
    return SUCCESS;
}

static const zend_module_dep dependencies[] = {ZEND_MOD_OPTIONAL("spindle") ZEND_MOD_END};

zend_module_entry acme_http_module_entry = {
    STANDARD_MODULE_HEADER_EX, NULL, dependencies, "acme_http", NULL, PHP_MINIT(acme_http), NULL, NULL, NULL, NULL, "1.0", STANDARD_MODULE_PROPERTIES
};
