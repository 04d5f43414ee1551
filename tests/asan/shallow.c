/* Preloaded before the sanitizer's runtime: PHP asks for RTLD_DEEPBIND when it loads an extension, with which the calls of
 * the extension would pass by the runtime; it refuses that. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>

void *dlopen(const char *name, int flags)
{
	static void *(*next)(const char *, int);
	if (!next) {
		next = (void *(*)(const char *, int)) dlsym(RTLD_NEXT, "dlopen");
	}
	return next(name, flags & ~RTLD_DEEPBIND);
}

/* Called by the runtime before each report. Its own list of calls ends early where code has no frame pointers. */
void __asan_on_error(void)
{
	void *calls[40];
	backtrace_symbols_fd(calls, backtrace(calls, 40), 2);
}
