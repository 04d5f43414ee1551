/* What PHP and its code write to the error log, where that is the SAPI's own: standard error of the command line. With the setting
 * `error_log` PHP writes to a file by itself. */
#include "glue.h"

#include "SAPI.h"

#include <time.h>

static void (*own)(const char *message, int severity);
static bool (*taker)(const char *message, int severity);

static void on_message(const char *message, int severity)
{
	if (!taker(message, severity)) {
		own(message, severity);
	}
}

void spindle_error_log_watch(bool (*take)(const char *message, int severity))
{
	taker = take;
	if (sapi_module.log_message && sapi_module.log_message != on_message) {
		own = sapi_module.log_message;
		sapi_module.log_message = on_message;
	}
}

void spindle_error_log_watch_no_more(void)
{
	if (sapi_module.log_message == on_message) {
		sapi_module.log_message = own;
	}
}

/* Writes a line to the SAPI's own log. To be called by what takes a message only. */
void spindle_error_log_pass(const char *line, int severity) { own(line, severity); }

void spindle_error_log(const char *line, int severity) { php_log_err_with_severity(line, severity); }

/* Writes the time, as in 2026-12-31T23:59:59Z. */
void spindle_error_log_time(char text[SPINDLE_TIME])
{
	time_t now = time(NULL);
	struct tm parts;

	if (!gmtime_r(&now, &parts) || !strftime(text, SPINDLE_TIME, "%Y-%m-%dT%H:%M:%SZ", &parts)) {
		text[0] = '\0';
	}
}
