/* What extensions keep for all code of a PHP request, and each instance has for itself, as callbacks and objects of one must not come
 * to another: the default context of streams, and what ext/libxml loads documents with. */
#include "instances.h"

#include "ext/standard/file.h"
#include "php_streams.h"
#include "zend_exceptions.h"
#include "zend_llist.h"
#include "zend_smart_str_public.h"

/* The globals of ext/libxml, whose header needs those of the library. */
struct libxml_globals {
	zval document_context; /* set by libxml_set_streams_context() */
	smart_str errors;
	zend_llist *error_list;
	libxml_loader loader;
	bool loads_nothing;
};
static struct libxml_globals *libxml;

void instance_extensions_begin(void)
{
	const zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, ZEND_STRL("libxml"));

	libxml = module && module->globals_size == sizeof(*libxml) ? module->globals_ptr : NULL;
}

void instance_extensions_switch(instance_extensions *from, const instance_extensions *to)
{
	from->default_context = FG(default_context);
	FG(default_context) = to->default_context;
	if (libxml) {
		from->loader = libxml->loader;
		libxml->loader = to->loader;
		ZVAL_COPY_VALUE(&from->document_context, &libxml->document_context);
		ZVAL_COPY_VALUE(&libxml->document_context, &to->document_context);
	}
}

static void release_loader(libxml_loader *loader)
{
	libxml_loader before = *loader;

	memset(loader, 0, sizeof(*loader));
#if PHP_VERSION_ID < 80300
	zval_ptr_dtor(&before.callback);
#else
	if (ZEND_FCC_INITIALIZED(before.cache)) {
		zend_fcc_dtor(&before.cache);
	}
#endif
}

static void copy_loader(libxml_loader *to, const libxml_loader *from)
{
	*to = *from;
#if PHP_VERSION_ID < 80300
	Z_TRY_ADDREF(to->callback);
#else
	if (ZEND_FCC_INITIALIZED(to->cache)) {
		zend_fcc_addref(&to->cache);
	}
#endif
}

static bool is_same(const zval *one, const zval *other)
{
	bool is_nothing = Z_TYPE_P(one) <= IS_NULL;

	return is_nothing ? Z_TYPE_P(other) <= IS_NULL : Z_TYPE_P(one) == Z_TYPE_P(other) && Z_COUNTED_P(one) == Z_COUNTED_P(other);
}

static bool is_same_loader(const libxml_loader *one, const libxml_loader *other)
{
#if PHP_VERSION_ID < 80300
	return is_same(&one->callback, &other->callback);
#else
	return one->cache.function_handler == other->cache.function_handler && one->cache.object == other->cache.object
		&& one->cache.closure == other->cache.closure;
#endif
}

void instance_extensions_note(extensions_seed *seed)
{
	instance_extensions_forget(seed);
	if (FG(default_context)) {
		ZVAL_COPY(&seed->options, &FG(default_context)->options);
	}
	if (libxml) {
		ZVAL_COPY(&seed->document_context, &libxml->document_context);
		copy_loader(&seed->loader, &libxml->loader);
	}
}

void instance_extensions_start(const extensions_seed *seed)
{
	if (Z_TYPE(seed->options) == IS_ARRAY) {
		FG(default_context) = php_stream_context_alloc();
		zval_ptr_dtor(&FG(default_context)->options);
		ZVAL_COPY(&FG(default_context)->options, &seed->options);
	}
	if (libxml) {
		ZVAL_COPY(&libxml->document_context, &seed->document_context);
		copy_loader(&libxml->loader, &seed->loader);
	}
}

void instance_extensions_stop(void)
{
	php_stream_context *context = FG(default_context);

	FG(default_context) = NULL;
	if (context) {
		zend_list_delete(context->res);
	}
	if (libxml) {
		zval documents = libxml->document_context;

		ZVAL_UNDEF(&libxml->document_context);
		zval_ptr_dtor(&documents);
		release_loader(&libxml->loader);
	}
}

static bool is_changed(const extensions_seed *since)
{
	const php_stream_context *context = FG(default_context);
	zval none;

	ZVAL_UNDEF(&none);
	return !is_same(context ? &context->options : &none, &since->options) || (context && context->notifier)
		|| (libxml && (!is_same(&libxml->document_context, &since->document_context) || !is_same_loader(&libxml->loader, &since->loader)));
}

void instance_extensions_restore(spindle_instance *this)
{
	zend_object *thrown = EG(exception);

	if (!is_changed(&this->booted)) {
		return;
	}
	EG(exception) = NULL; /* of what has ended before, so that destructors can run here */
	instance_extensions_stop();
	instance_extensions_start(&this->booted);
	if (thrown && EG(exception)) {
		if (zend_is_unwind_exit(thrown)) {
			OBJ_RELEASE(EG(exception));
			EG(exception) = thrown;
		} else {
			zend_exception_set_previous(EG(exception), thrown);
		}
	} else if (thrown) {
		EG(exception) = thrown;
	}
}

void instance_extensions_forget(extensions_seed *seed)
{
	zval before[] = {seed->options, seed->document_context};

	ZVAL_UNDEF(&seed->options);
	ZVAL_UNDEF(&seed->document_context);
	release_loader(&seed->loader);
	for (int i = 0; i < 2; i++) {
		zval_ptr_dtor(&before[i]);
	}
}
