/* The layout of version 1 of the table, which never changes: extensions that were built with it call by these offsets. Also valid as C++. */
#include "php.h"
#include "spindle.h"

#ifdef __cplusplus
#define FROZEN(field, offset) static_assert(offsetof(spindle_api, field) == offset, #field)
#define IS(what, text) static_assert(what, text)
#else
#define FROZEN(field, offset) _Static_assert(offsetof(spindle_api, field) == offset, #field)
#define IS(what, text) _Static_assert(what, text)
#endif

FROZEN(size, 0);
FROZEN(version, 4);
FROZEN(can_park, 8);
FROZEN(current, 16);
FROZEN(spawn, 24);
FROZEN(spawn_c, 32);
FROZEN(await, 40);
FROZEN(begin_wait, 48);
FROZEN(park, 56);
FROZEN(wake, 64);
FROZEN(wait_fd, 72);
FROZEN(sleep, 80);
FROZEN(job, 88);
FROZEN(forbid, 96);
FROZEN(allow, 104);
FROZEN(cancelled, 112);
FROZEN(throw_pending, 120);
FROZEN(local, 128);
FROZEN(declare, 136);
IS(SPINDLE_API_SIZE_1 == 144, "the size of version 1");
/* crates/ext reads it by this offset. */
IS(offsetof(zend_module_entry, handle) == 144, "the handle of a module");
IS(sizeof(spindle_why) == 4 && sizeof(spindle_holds) == 4 && sizeof(spindle_ticket) == 8, "the types");
IS(SPINDLE_WOKEN == 0 && SPINDLE_TIMED_OUT == 1 && SPINDLE_CANCELLED == 2 && SPINDLE_INTERRUPTED == 3 && SPINDLE_FAILED == 4, "why");
IS(SPINDLE_HOLDS_ALL == 0 && SPINDLE_HOLDS_HANDLES == 1 && SPINDLE_HOLDS_NOTHING == 2, "holds");

/* Used, so that a compiler that ignores nothing has seen it. */
bool abi_has_sleep(void);
bool abi_has_sleep(void)
{
    const spindle_api *api = spindle_load();
    return SPINDLE_HAS(api, sleep) && spindle_after(1) < SPINDLE_FOREVER;
}
