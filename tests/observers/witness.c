/* A PHP module that observes fibers and calls, and writes what it is told to the file that WITNESS names: a line each.
 *
 *   new A                      a context is announced; contexts have letters in the order in which they are seen
 *   A running > B new          a switch
 *   gone A                     a context is destroyed
 *   + f, - f                   a function of PHP code whose name begins with "seen" is entered and left, or given up
 *   ! ...                      what zend_fiber_switch_context() would never do
 */
#include "php.h"
#include "zend_fibers.h"
#include "zend_observer.h"

enum { MOST = 4096 };

static struct {
	zend_fiber_context *context;
	int depth;
	bool gone;
} known[MOST];
static int count;
static FILE *out;
static zend_fiber_context *last;

static const char *letter(int i)
{
	static char names[2][16];
	static int turn;
	char *name = names[turn ^= 1];

	if (i < 26) {
		snprintf(name, sizeof names[0], "%c", 'A' + i);
	} else {
		snprintf(name, sizeof names[0], "%c%d", 'A' + i % 26, i / 26);
	}
	return name;
}

/* Main's context is the only one that is not announced: it is A. */
static int of(zend_fiber_context *context)
{
	if (count == 0) {
		known[count++].context = EG(main_fiber_context);
	}
	for (int i = count - 1; i >= 0; i--) {
		if (known[i].context == context && !known[i].gone) {
			return i;
		}
	}
	fprintf(out, "! a context that was never announced, or is gone\n");
	return 0;
}

static const char *status(zend_fiber_context *context)
{
	switch (context->status) {
		case ZEND_FIBER_STATUS_INIT: return "new";
		case ZEND_FIBER_STATUS_RUNNING: return "running";
		case ZEND_FIBER_STATUS_SUSPENDED: return "suspended";
		case ZEND_FIBER_STATUS_DEAD: return "dead";
	}
	return "!";
}

static void on_init(zend_fiber_context *context)
{
	of(EG(main_fiber_context));
	for (int i = 0; i < count; i++) {
		if (known[i].context == context && !known[i].gone) {
			fprintf(out, "! announced a second time: %s\n", letter(i));
		}
	}
	if (count == MOST) {
		abort();
	}
	known[count].context = context;
	known[count].depth = 0;
	known[count++].gone = false;
	fprintf(out, "new %s\n", letter(count - 1));
	if (context->status != ZEND_FIBER_STATUS_INIT) {
		fprintf(out, "! it is %s\n", status(context));
	}
	for (int i = 0; i < ZEND_MAX_RESERVED_RESOURCES; i++) {
		if (context->reserved[i]) {
			fprintf(out, "! it has somebody else's data\n");
		}
	}
	context->reserved[ZEND_MAX_RESERVED_RESOURCES - 1] = context;
}

static void on_switch(zend_fiber_context *from, zend_fiber_context *to)
{
	zend_string *file = zend_get_executed_filename_ex();

	fprintf(out, "%s %s > %s %s\n", letter(of(from)), status(from), letter(of(to)), status(to));
	if (from != (last ? last : EG(main_fiber_context))) {
		fprintf(out, "! another one runs\n");
	}
	if (from != EG(current_fiber_context)) {
		fprintf(out, "! the state of the one that is left is not in place\n");
	}
	if (from->status != ZEND_FIBER_STATUS_RUNNING && from->status != ZEND_FIBER_STATUS_DEAD) {
		fprintf(out, "! it does not run\n");
	}
	if (to->status == ZEND_FIBER_STATUS_INIT && !file) {
		fprintf(out, "! nobody starts it\n");
	}
	if (to->status == ZEND_FIBER_STATUS_INIT && file) {
		fprintf(out, "  at line %u\n", zend_get_executed_lineno());
	}
	if (to != EG(main_fiber_context) && to->reserved[ZEND_MAX_RESERVED_RESOURCES - 1] != to) {
		fprintf(out, "! its data is gone\n");
	}
	last = to;
}

static void on_destroy(zend_fiber_context *context)
{
	int i = of(context);

	fprintf(out, "gone %s\n", letter(i));
	if (context->status != ZEND_FIBER_STATUS_DEAD || context == last) {
		fprintf(out, "! it lives\n");
	}
	known[i].gone = true;
}

static void on_begin(zend_execute_data *frame)
{
	fprintf(out, "%*s+ %s\n", 2 * known[of(EG(current_fiber_context))].depth++, "", ZSTR_VAL(frame->func->common.function_name));
}

static void on_end(zend_execute_data *frame, zval *result)
{
	fprintf(out, "%*s- %s%s\n", 2 * --known[of(EG(current_fiber_context))].depth, "",
		ZSTR_VAL(frame->func->common.function_name), result ? "" : " (thrown out)");
}

static zend_observer_fcall_handlers on_first_call(zend_execute_data *frame)
{
	zend_string *name = frame->func->common.function_name;

	if (name && strncmp(ZSTR_VAL(name), "seen", 4) == 0) {
		return (zend_observer_fcall_handlers) {on_begin, on_end};
	}
	return (zend_observer_fcall_handlers) {NULL, NULL};
}

static PHP_MINIT_FUNCTION(witness)
{
	const char *name = getenv("WITNESS");

	out = fopen(name ? name : "/dev/null", "w");
	if (!out) {
		return FAILURE;
	}
	setvbuf(out, NULL, _IOLBF, 0);
	zend_observer_fiber_init_register(on_init);
	zend_observer_fiber_switch_register(on_switch);
	zend_observer_fiber_destroy_register(on_destroy);
	zend_observer_fcall_register(on_first_call);
	return SUCCESS;
}

zend_module_entry witness_module_entry = {
	STANDARD_MODULE_HEADER, "witness", NULL, PHP_MINIT(witness), NULL, NULL, NULL, NULL, "1", STANDARD_MODULE_PROPERTIES
};

ZEND_GET_MODULE(witness)
