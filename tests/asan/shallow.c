/* Preloaded before the sanitizer's runtime: PHP asks for RTLD_DEEPBIND when it loads an extension, with which the calls of
 * the extension would pass by the runtime; it refuses that. */

#define _GNU_SOURCE
#include <dlfcn.h>

void *dlopen(const char *name, int flags)
{
	static void *(*next)(const char *, int);
	if (!next) {
		next = (void *(*)(const char *, int)) dlsym(RTLD_NEXT, "dlopen");
	}
	return next(name, flags & ~RTLD_DEEPBIND);
}
