/* What PHP sees: a module with two functions. */

#include "php.h"

extern const char *faults_begin(void);
extern void faults_end(void);
extern void faults_report(void);

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_nothing, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

/* From here on calls are counted, and fail as planned. */
ZEND_FUNCTION(Faults_begin)
{
	ZEND_PARSE_PARAMETERS_NONE();
	const char *problem = faults_begin();
	if (problem != NULL) {
		zend_error_noreturn(E_ERROR, "faults: %s", problem);
	}
}

/* They no longer do; what was injected is written to the report. */
ZEND_FUNCTION(Faults_end)
{
	ZEND_PARSE_PARAMETERS_NONE();
	faults_end();
	faults_report();
}

static const zend_function_entry functions[] = {
	ZEND_NS_FALIAS("Faults", begin, Faults_begin, arginfo_nothing)
	ZEND_NS_FALIAS("Faults", end, Faults_end, arginfo_nothing)
	ZEND_FE_END
};

/* The end of the request belongs to the plan too, when the script has not ended it. */
static PHP_MSHUTDOWN_FUNCTION(faults)
{
	faults_end();
	faults_report();
	return SUCCESS;
}

zend_module_entry faults_module_entry = {
	STANDARD_MODULE_HEADER,
	"spindle_faults", functions,
	NULL, PHP_MSHUTDOWN(faults), NULL, NULL, NULL,
	"1", STANDARD_MODULE_PROPERTIES
};
