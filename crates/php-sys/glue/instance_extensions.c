/* What extensions keep for all code of a PHP request, and each instance has for itself, as callbacks and objects of one must not come
 * to another: the default context of streams, and what ext/libxml loads documents with. */
#include "instances.h"

#include "ext/standard/file.h"
#include "php_streams.h"
#include "zend_llist.h"
#include "zend_smart_str_public.h"

/* The globals of ext/libxml, whose header needs those of the library. */
struct libxml_globals {
	zval document_context; /* set by libxml_set_streams_context() */
	smart_str errors;
	zend_llist *error_list;
	/* Set by libxml_set_external_entity_loader(). */
	struct {
#if PHP_VERSION_ID < 80300
		zval callback;
		zend_fcall_info info;
#endif
		zend_fcall_info_cache cache;
	} loader;
	bool loads_nothing;
};
static struct libxml_globals *libxml;
_Static_assert(sizeof(libxml->loader) <= sizeof(((instance_extensions *) 0)->loader), "there is room for a loader");

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
		memcpy(from->loader, &libxml->loader, sizeof(libxml->loader));
		memcpy(&libxml->loader, to->loader, sizeof(libxml->loader));
		ZVAL_COPY_VALUE(&from->document_context, &libxml->document_context);
		ZVAL_COPY_VALUE(&libxml->document_context, &to->document_context);
	}
}

/* Calls a function of ext/libxml, if there is one. */
static void call(const char *name, zval *result, uint32_t count, zval *arguments)
{
	zend_function *function = zend_hash_str_find_ptr(CG(function_table), name, strlen(name));

	ZVAL_NULL(result);
	if (function) {
		zend_call_known_function(function, NULL, NULL, result, count, arguments, NULL);
	}
}

void instance_extensions_note(extensions_seed *seed)
{
	instance_extensions_forget(seed);
	if (FG(default_context)) {
		ZVAL_COPY(&seed->options, &FG(default_context)->options);
	}
	if (libxml) {
		ZVAL_COPY(&seed->document_context, &libxml->document_context);
		call("libxml_get_external_entity_loader", &seed->loader, 0, NULL);
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
		if (!Z_ISUNDEF(seed->loader) && Z_TYPE(seed->loader) != IS_NULL) {
			zval loader = seed->loader, result;

			call("libxml_set_external_entity_loader", &result, 1, &loader);
			zval_ptr_dtor(&result);
		}
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
		static const __typeof__(libxml->loader) nothing;
		zval context = libxml->document_context;

		ZVAL_UNDEF(&libxml->document_context);
		zval_ptr_dtor(&context);
		if (memcmp(&libxml->loader, &nothing, sizeof(libxml->loader)) != 0) {
			zval null, result;

			ZVAL_NULL(&null);
			call("libxml_set_external_entity_loader", &result, 1, &null);
			zval_ptr_dtor(&result);
			memset(&libxml->loader, 0, sizeof(libxml->loader));
		}
	}
}

static bool are_same(const zval *one, const zval *other)
{
	bool is_nothing = Z_TYPE_P(one) <= IS_NULL;

	return is_nothing ? Z_TYPE_P(other) <= IS_NULL : Z_TYPE_P(one) == Z_TYPE_P(other) && Z_COUNTED_P(one) == Z_COUNTED_P(other);
}

void instance_extensions_restore(spindle_instance *this)
{
	extensions_seed now = {0};

	instance_extensions_note(&now);
	if (!are_same(&now.options, &this->booted.options) || !are_same(&now.document_context, &this->booted.document_context)
			|| !are_same(&now.loader, &this->booted.loader)) {
		instance_extensions_stop();
		instance_extensions_start(&this->booted);
	}
	instance_extensions_forget(&now);
}

void instance_extensions_forget(extensions_seed *seed)
{
	zval before[] = {seed->options, seed->document_context, seed->loader};

	memset(seed, 0, sizeof(*seed));
	for (int i = 0; i < 3; i++) {
		zval_ptr_dtor(&before[i]);
	}
}
