/*
 * A module that calls itself spindle and has a table of another version: longer, with a function that this header does not know, or too
 * short, or none.
 */
#include "php.h"
#include "spindle.h"

#ifndef WITHOUT_TABLE
static uint64_t current(void) { return 42; }
static bool declare(const zend_module_entry *module, const char *function, spindle_holds holds) { return module != NULL && holds <= SPINDLE_HOLDS_NOTHING; }
static bool can_park(void) { return false; }

__attribute__((visibility("default"))) struct { spindle_api table; void (*later)(void); } spindle_api_of_later __asm__("spindle_api") = {
    .table = {.size = SIZE, .version = 2, .can_park = can_park, .current = current, .declare = declare}, .later = NULL
};
#endif

static zend_module_entry spindle_module_entry = {
    STANDARD_MODULE_HEADER, "spindle", NULL, NULL, NULL, NULL, NULL, NULL, "2.0", STANDARD_MODULE_PROPERTIES
};

ZEND_GET_MODULE(spindle)
