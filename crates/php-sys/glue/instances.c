/* Instances of an application: each has all static properties, static variables and global variables for itself.
 *
 * What a class or a function keeps, the engine reaches through a table, CG(map_ptr_base), in which each has its offsets: static
 * properties, static variables, and the cache of what its code has looked up, in which there are addresses of static properties. So an
 * instance has a table of its own, and with the table all of these are exchanged at once. Code that opcache does not keep has pointers
 * in place of offsets; it gets offsets before an instance can see it. A new table is empty but for what is named here: what was not
 * looked up yet is looked up again.
 *
 * See isolation/instance.rs. */
#include "instances.h"

#include "zend_closures.h"
#include "zend_extensions.h"
#include "zend_fibers.h"
#include "zend_generators.h"
#include "zend_interfaces.h"
#include "zend_map_ptr.h"
#include "zend_observer.h"
#include "zend_smart_str.h"
#include "zend_weakrefs.h"

#ifdef ZEND_MAP_PTR_NEW_STATIC
# define STATIC_ENTRIES zend_map_ptr_static_size
#else
# define STATIC_ENTRIES 0
#endif

spindle_instance instances_script, *instances_running = &instances_script, *instances_first;

/* How many classes and functions there were when the running one was entered. */
static uint32_t classes_before, functions_before;

/* The process that has them. */
static pid_t process;

/* The closures that others than the instance that has made them call. Code takes it for granted that a closure has a pointer to its
 * cache, so the pointers are exchanged. */
static struct shared_closure {
	zend_object *object;
	spindle_instance *maker; /* whose cache the engine frees with the closure */
	bool has_heap_cache; /* whether the engine takes it for that of this closure alone */
} *closures;
static size_t closure_count;

/* The places of closures among them by their addresses. */
static HashTable places_of_closures;

/* Static variables of functions, by the addresses of closures that stand for them, whose instances have ended. */
static HashTable left_variables;

/* The handlers of all closures, which the engine has filled in itself, and what they were. */
static zend_object_handlers *closure_handlers, other_handlers;
static zif_handler other_bind;

/* The caches of the functions and closures that these, and the code that ran then, define: their sizes in bytes by their offsets. */
static HashTable definitions;

static void **base_of(const spindle_instance *of)
{
	return of == instances_running ? CG(map_ptr_base) : ZEND_MAP_PTR_BIASED_BASE(of->table);
}

/* Returns the entry for an offset, as ZEND_MAP_PTR() has it; NULL if the table is too short. */
static void **entry(const spindle_instance *of, const void *offset)
{
	size_t last = of == instances_running ? CG(map_ptr_last) : of->last;

	return ((uintptr_t) offset - 1) / sizeof(void *) < last ? (void **) ((char *) base_of(of) + (uintptr_t) offset) : NULL;
}

/* Returns the entry for the static properties of a class; NULL if it has none of its own, or the table is too short. */
static void **entry_of_statics(const spindle_instance *of, const zend_class_entry *ce)
{
	if (!ce->default_static_members_count || !ZEND_MAP_PTR_IS_OFFSET(ce->static_members_table)) {
		return NULL;
	}
	return entry(of, ZEND_MAP_PTR(ce->static_members_table));
}

/* --- offsets ------------------------------------------------------------------------------------------------------------ */

/* Entries of this process. opcache numbers those of the code that processes share from CG(map_ptr_last) on, so a range is left out
 * for the entries that only this process has: always the same, as a sibling must not number code there either. */
#define OWN_ENTRIES_FROM ((size_t) 1 << 18)
#define OWN_ENTRIES ((size_t) 1 << 15)
static size_t own_entries;

static void *new_entry(void)
{
	size_t number = OWN_ENTRIES_FROM + own_entries;

	if (own_entries == 0 && CG(map_ptr_last) <= OWN_ENTRIES_FROM) {
		zend_map_ptr_extend(OWN_ENTRIES_FROM + OWN_ENTRIES);
	} else if (own_entries == OWN_ENTRIES || CG(map_ptr_last) < OWN_ENTRIES_FROM + OWN_ENTRIES) {
		return zend_map_ptr_new(); /* code of more than a quarter of a million functions, or that much which opcache does not keep */
	}
	own_entries++;
	return ZEND_MAP_PTR_PTR2OFFSET((void **) CG(map_ptr_real_base) + STATIC_ENTRIES + number);
}

/* Gives an entry in the table to what has a pointer of its own. */
#define GIVE_OFFSET(of) do { \
		if (!ZEND_MAP_PTR_IS_OFFSET(of)) { \
			void *present = (void *) ZEND_MAP_PTR(of); \
			ZEND_MAP_PTR_INIT(of, new_entry()); \
			ZEND_MAP_PTR_SET(of, present); \
		} \
	} while (0)

static void give_offsets_to_one(zend_op_array *code)
{
	GIVE_OFFSET(code->run_time_cache);
	if (code->static_variables) {
		GIVE_OFFSET(code->static_variables_ptr);
	}
}

static void give_offsets_to_code(zend_op_array *code)
{
	if (code->type != ZEND_USER_FUNCTION) {
		return;
	}
	give_offsets_to_one(code);
	for (uint32_t i = 0; i < code->num_dynamic_func_defs; i++) {
		give_offsets_to_code(code->dynamic_func_defs[i]);
	}
}

/* Gives offsets to what code defines that no table of functions leads to: code that an instance has made. */
static void give_offsets_to_definitions(const zend_op_array *code, const spindle_instance *maker)
{
	for (uint32_t i = 0; i < code->num_dynamic_func_defs; i++) {
		zend_op_array *one = code->dynamic_func_defs[i];
		bool is_new = !ZEND_MAP_PTR_IS_OFFSET(one->run_time_cache);
		zval size;

		give_offsets_to_one(one);
		if (is_new && maker != instances_running) {
			ZEND_MAP_PTR_SET(one->run_time_cache, NULL); /* that of its maker, which looks up what it needs again */
		}
		ZVAL_LONG(&size, one->cache_size);
		zend_hash_index_update(&definitions, (zend_ulong) ZEND_MAP_PTR(one->run_time_cache), &size);
		give_offsets_to_definitions(one, maker);
	}
}

#ifdef SPINDLE_PHP84
# define EACH_HOOK(ce, code, DO) do { \
		zend_property_info *info; \
		ZEND_HASH_MAP_FOREACH_PTR(&(ce)->properties_info, info) { \
			for (int i = 0; info->hooks && i < ZEND_PROPERTY_HOOK_COUNT; i++) { \
				zend_function *code = info->hooks[i]; \
				if (code) { \
					DO; \
				} \
			} \
		} ZEND_HASH_FOREACH_END(); \
	} while (0)
#else
# define EACH_HOOK(ce, code, DO)
#endif

/* Classes that opcache does not keep, with static properties whose defaults are to be evaluated: that this was done is noted in the
 * class, for all instances. */
static zend_class_entry **unsettled;
static size_t unsettled_count;

static bool is_unsettled(const zend_class_entry *ce)
{
	for (size_t i = 0; i < unsettled_count; i++) {
		if (unsettled[i] == ce) {
			return true;
		}
	}
	return false;
}

static void give_offsets_to_class(zend_class_entry *ce)
{
	zend_function *code;

	if (ce->default_static_members_count) {
		GIVE_OFFSET(ce->static_members_table);
	}
	if (!(ce->ce_flags & ZEND_ACC_IMMUTABLE)) {
		for (int i = 0; i < ce->default_static_members_count; i++) {
			const zval *value = &ce->default_static_members_table[i];

			ZVAL_DEINDIRECT(value);
			if (Z_TYPE_P(value) == IS_CONSTANT_AST && !is_unsettled(ce)) {
				unsettled = realloc(unsettled, (unsettled_count + 1) * sizeof(*unsettled));
				unsettled[unsettled_count++] = ce;
				break;
			}
		}
	}
	ZEND_HASH_MAP_FOREACH_PTR(&ce->function_table, code) {
		give_offsets_to_code(&code->op_array);
	} ZEND_HASH_FOREACH_END();
	EACH_HOOK(ce, code, give_offsets_to_code(&code->op_array));
}

/* Classes that were not linked yet when they were added: that may still change what they have. */
static uint32_t *unlinked;
static size_t unlinked_count;

/* The classes and functions that were added last. */
static const void *last_class, *last_function;

static const void *last_of(const zend_array *table)
{
	return table->nNumUsed ? Z_PTR(table->arData[table->nNumUsed - 1].val) : NULL;
}

static bool has_new_code(void)
{
	return classes_before != CG(class_table)->nNumUsed || functions_before != CG(function_table)->nNumUsed
		|| last_class != last_of(CG(class_table)) || last_function != last_of(CG(function_table)) || unlinked_count;
}

/* Gives offsets to the classes and functions that were added since the last time. */
static void give_offsets(void)
{
	size_t still = 0;

	/* A table that was compacted, or whose last one was replaced. */
	if (classes_before > CG(class_table)->nNumUsed || (classes_before == CG(class_table)->nNumUsed && last_class != last_of(CG(class_table)))) {
		classes_before = 0;
		unlinked_count = 0;
	}
	if (functions_before > CG(function_table)->nNumUsed
			|| (functions_before == CG(function_table)->nNumUsed && last_function != last_of(CG(function_table)))) {
		functions_before = 0;
	}
	for (size_t i = 0; i < unlinked_count; i++) {
		zval *one = &CG(class_table)->arData[unlinked[i]].val;

		if (Z_TYPE_P(one) == IS_PTR && !(Z_CE_P(one)->ce_flags & ZEND_ACC_LINKED)) {
			unlinked[still++] = unlinked[i];
		} else if (Z_TYPE_P(one) == IS_PTR) {
			give_offsets_to_class(Z_PTR_P(one));
		}
	}
	unlinked_count = still;
	while (classes_before < CG(class_table)->nNumUsed) {
		zval *one = &CG(class_table)->arData[classes_before].val;

		if (Z_TYPE_P(one) == IS_PTR && (Z_CE_P(one)->ce_flags & ZEND_ACC_LINKED)) { /* and not an alias */
			give_offsets_to_class(Z_PTR_P(one));
		} else if (Z_TYPE_P(one) == IS_PTR) {
			unlinked = realloc(unlinked, (unlinked_count + 1) * sizeof(*unlinked));
			unlinked[unlinked_count++] = classes_before;
		}
		classes_before++;
	}
	while (functions_before < CG(function_table)->nNumUsed) {
		zval *one = &CG(function_table)->arData[functions_before++].val;

		if (!Z_ISUNDEF_P(one)) {
			give_offsets_to_code(Z_PTR_P(one));
		}
	}
	last_class = last_of(CG(class_table));
	last_function = last_of(CG(function_table));
}

static zend_op_array *code_of(zend_object *closure)
{
	return (zend_op_array *) zend_get_closure_method_def(closure);
}

/* Makes the caches of the closures that were remembered since. */
static void make_closure_caches(spindle_instance *of)
{
	of->closure_caches = realloc(of->closure_caches, (closure_count + 1) * sizeof(void *));
	for (; of->closure_count < closure_count; of->closure_count++) {
		const struct shared_closure *one = &closures[of->closure_count];

		of->closure_caches[of->closure_count] =
			of == one->maker ? ZEND_MAP_PTR(code_of(one->object)->run_time_cache) : calloc(1, code_of(one->object)->cache_size);
	}
}

/* Gives a closure, whose place this is, the cache back that it was made with. */
static void restore_closure(size_t place)
{
	struct shared_closure *one = &closures[place];
	zend_op_array *code = code_of(one->object);

	instances_running->closure_caches[place] = ZEND_MAP_PTR(code->run_time_cache);
	ZEND_MAP_PTR_INIT(code->run_time_cache, one->maker->closure_caches[place]);
	one->maker->closure_caches[place] = NULL;
	if (!one->has_heap_cache) {
		code->fn_flags &= ~ZEND_ACC_HEAP_RT_CACHE;
	}
}

/* An instance is forgotten that has made a closure: it is as one of the script, which runs. */
static void take_over_closure(size_t place)
{
	restore_closure(place);
	free(instances_script.closure_caches[place]);
	instances_script.closure_caches[place] = ZEND_MAP_PTR(code_of(closures[place].object)->run_time_cache);
	closures[place].maker = &instances_script;
}

/* Frees a closure. The others forget it before: the caches that they have for it are unused now, as a call would hold it. */
static void free_closure(zend_object *closure)
{
	zval *found = closure_count ? zend_hash_index_find(&places_of_closures, (zend_ulong) (uintptr_t) closure >> 3) : NULL;

	if (found) {
		size_t place = (size_t) Z_LVAL_P(found), last = --closure_count;

		restore_closure(place);
		zend_hash_index_del(&places_of_closures, (zend_ulong) (uintptr_t) closure >> 3);
		closures[place] = closures[last];
		if (place != last) {
			zval moved;

			ZVAL_LONG(&moved, (zend_long) place);
			zend_hash_index_update(&places_of_closures, (zend_ulong) (uintptr_t) closures[place].object >> 3, &moved);
		}
		for (spindle_instance *one = &instances_script; one; one = one == &instances_script ? instances_first : one->next) {
			free(one->closure_caches[place]);
			one->closure_caches[place] = one->closure_caches[last];
			one->closure_count = last;
		}
	}
	if (UNEXPECTED(left_variables.nNumOfElements)) {
		zend_hash_index_del(&left_variables, (zend_ulong) (uintptr_t) closure >> 3);
	}
	spindle_object_freed(closure);
	other_handlers.free_obj(closure);
}

static void remember_closure(zend_object *object, spindle_instance *maker)
{
	zend_op_array *code = code_of(object);
	struct shared_closure one = {.object = object, .maker = maker, .has_heap_cache = code->fn_flags & ZEND_ACC_HEAP_RT_CACHE};
	zval place;

	ZVAL_LONG(&place, (zend_long) closure_count);
	if (code->type != ZEND_USER_FUNCTION || ZEND_MAP_PTR_IS_OFFSET(code->run_time_cache)
			|| !zend_hash_index_add(&places_of_closures, (zend_ulong) (uintptr_t) object >> 3, &place)) {
		return;
	}
	give_offsets_to_definitions(code, maker);
	/* One that is made of it does not have its cache then, which changes. */
	code->fn_flags |= ZEND_ACC_HEAP_RT_CACHE;
	closures = realloc(closures, (closure_count + 1) * sizeof(*closures));
	closures[closure_count++] = one;
}

/* Makes them for all, and lets the closures have those of the running one. */
static void make_all_closure_caches(void)
{
	size_t first = instances_script.closure_count;

	make_closure_caches(&instances_script);
	for (spindle_instance *one = instances_first; one; one = one->next) {
		make_closure_caches(one);
	}
	for (size_t i = first; i < closure_count; i++) {
		ZEND_MAP_PTR_INIT(code_of(closures[i].object)->run_time_cache, instances_running->closure_caches[i]);
	}
}

/* A closure is called, or another one made of it. One that another instance has made is remembered then. */
static zend_always_inline void meet(zend_object *closure)
{
	spindle_instance *maker = instance_objects_maker(closure->handle);

	if (UNEXPECTED(maker != instances_running)) {
		size_t before = closure_count;

		remember_closure(closure, maker);
		if (closure_count != before) {
			make_all_closure_caches();
		}
	}
}

static zend_result call_closure(zend_object *closure, zend_class_entry **ce, zend_function **code, zend_object **object, bool check_only)
{
	meet(closure);
	return other_handlers.get_closure(closure, ce, code, object, check_only);
}

static zend_function *get_method_of_closure(zend_object **closure, zend_string *name, const zval *key)
{
	meet(*closure);
	return other_handlers.get_method(closure, name, key);
}

static zend_object *clone_closure(zend_object *closure)
{
	meet(closure);
	return other_handlers.clone_obj(closure);
}

/* Closure::bind() */
static void bind_closure(INTERNAL_FUNCTION_PARAMETERS)
{
	if (ZEND_NUM_ARGS()) {
		zval *closure = ZEND_CALL_ARG(execute_data, 1);

		ZVAL_DEREF(closure);
		if (Z_TYPE_P(closure) == IS_OBJECT && Z_OBJCE_P(closure) == zend_ce_closure) {
			meet(Z_OBJ_P(closure));
		}
	}
	other_bind(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

static zend_internal_function *bind_of_closures(void)
{
	return zend_hash_str_find_ptr(&zend_ce_closure->function_table, ZEND_STRL("bind"));
}

/* From now on it is seen what closures are called. */
static void watch_closures(void)
{
	zval closure;

	zend_create_fake_closure(&closure, (zend_function *) bind_of_closures(), zend_ce_closure, zend_ce_closure, NULL);
	closure_handlers = (zend_object_handlers *) Z_OBJ_HT(closure);
	zval_ptr_dtor(&closure);
	other_handlers = *closure_handlers;
	closure_handlers->free_obj = free_closure;
	closure_handlers->get_closure = call_closure;
	closure_handlers->get_method = get_method_of_closure;
	closure_handlers->clone_obj = clone_closure;
	other_bind = bind_of_closures()->handler;
	bind_of_closures()->handler = bind_closure;
}

/* Remembers the closures that exist. */
static void remember_closures(void)
{
	for (uint32_t i = 1; i < EG(objects_store).top; i++) {
		zend_object *one = EG(objects_store).object_buckets[i];

		if (IS_OBJ_VALID(one) && one->ce == zend_ce_closure && instance_objects_maker(i) == &instances_script) {
			remember_closure(one, &instances_script);
		}
	}
}

/* Values that are still to be looked at. */
typedef struct {
	zval *values;
	size_t count, room;
	HashTable seen;
} reachable;

static void reach(reachable *all, const zval *value)
{
	ZVAL_DEREF(value);
	if ((Z_TYPE_P(value) != IS_ARRAY || (GC_FLAGS(Z_ARR_P(value)) & GC_IMMUTABLE)) && Z_TYPE_P(value) != IS_OBJECT) {
		return;
	}
	if (!zend_hash_index_add_empty_element(&all->seen, (zend_ulong) (uintptr_t) Z_COUNTED_P(value) >> 3)) {
		return;
	}
	if (all->count == all->room) {
		all->room = all->room ? 2 * all->room : 64;
		all->values = realloc(all->values, all->room * sizeof(*all->values));
	}
	ZVAL_COPY_VALUE(&all->values[all->count++], value);
}

/* Returns what kind of suspended code of the script an object is, whose frames have the script's caches; NULL: it is none. */
static const char *suspended_code(zend_object *object)
{
	if (object->ce == zend_ce_generator) {
		return ((zend_generator *) object)->execute_data ? "generator" : NULL;
	}
	if (object->ce == zend_ce_fiber) {
		zval is_started, is_ended;

		zend_call_method_with_0_params(object, object->ce, NULL, "isStarted", &is_started);
		zend_call_method_with_0_params(object, object->ce, NULL, "isTerminated", &is_ended);
		return Z_TYPE(is_started) == IS_TRUE && Z_TYPE(is_ended) != IS_TRUE ? "fiber" : NULL;
	}
	return NULL;
}

static void reach_all(reachable *all, HashTable *table)
{
	zval *value;

	ZEND_HASH_FOREACH_VAL_IND(table, value) {
		reach(all, value);
	} ZEND_HASH_FOREACH_END();
}

/* Adds what an object has. */
static void reach_from(reachable *all, zend_object *object)
{
	zval *values;
	int count;
	HashTable *table;

	if (!object->handlers->get_gc) {
		return;
	}
	table = object->handlers->get_gc(object, &values, &count);
	for (int i = 0; i < count; i++) {
		reach(all, &values[i]);
	}
	if (table) {
		reach_all(all, table);
	}
}

static void reach_variables(reachable *all, const zend_function *code)
{
	if (code->type != ZEND_USER_FUNCTION) {
		return;
	}
	if (code->op_array.static_variables && ZEND_MAP_PTR_IS_OFFSET(code->op_array.static_variables_ptr)) {
		void **place = entry(instances_running, ZEND_MAP_PTR(code->op_array.static_variables_ptr));

		if (place && *place) {
			reach_all(all, *place);
		}
	}
	for (uint32_t i = 0; i < code->op_array.num_dynamic_func_defs; i++) {
		reach_variables(all, (const zend_function *) code->op_array.dynamic_func_defs[i]);
	}
}

static void reach_statics(reachable *all, zend_class_entry *ce)
{
	void **place = entry_of_statics(instances_running, ce);
	zend_function *code;

	if (place && *place) {
		zval *values = *place;

		for (int i = 0; i < ce->default_static_members_count; i++) {
			if (Z_TYPE(values[i]) != IS_INDIRECT) {
				reach(all, &values[i]);
			}
		}
	}
	ZEND_HASH_MAP_FOREACH_PTR(&ce->function_table, code) {
		reach_variables(all, code);
	} ZEND_HASH_FOREACH_END();
	EACH_HOOK(ce, hook, reach_variables(all, hook));
}

void instances_reach(HashTable *reached)
{
	reachable all = {0};
	zend_class_entry *ce;
	zend_function *code;

	zend_hash_init(&all.seen, 64, NULL, NULL, 1);
	reach_all(&all, &EG(symbol_table));
	for (int i = 0; i < 2; i++) {
		reach(&all, &instances_running->autoloaders[i]);
	}
	ZEND_HASH_MAP_FOREACH_PTR(CG(class_table), ce) {
		reach_statics(&all, ce);
	} ZEND_HASH_FOREACH_END();
	ZEND_HASH_MAP_FOREACH_PTR(CG(function_table), code) {
		reach_variables(&all, code);
	} ZEND_HASH_FOREACH_END();
	while (all.count) {
		zval one = all.values[--all.count];

		if (Z_TYPE(one) == IS_ARRAY) {
			reach_all(&all, Z_ARRVAL(one));
		} else {
			reach_from(&all, Z_OBJ(one));
		}
	}
	free(all.values);
	*reached = all.seen;
}

/* Remembers the closures that a value leads to. Returns what it leads to and no instance can have; NULL: nothing. */
static const char *remember_reachable(const zval *value)
{
	reachable all = {0};
	const char *wrong = NULL;

	zend_hash_init(&all.seen, 64, NULL, NULL, 1);
	reach(&all, value);
	while (all.count && !wrong) {
		zval one = all.values[--all.count];

		if (Z_TYPE(one) == IS_ARRAY) {
			reach_all(&all, Z_ARRVAL(one));
			continue;
		}
		zend_object *object = Z_OBJ(one);
		if (object->ce == zend_ce_closure) {
			remember_closure(object, instance_objects_maker(object->handle));
		}
		wrong = suspended_code(object);
		if (object->ce == zend_ce_weakref) {
			zval referent;

			ZVAL_UNDEF(&referent);
			zend_call_method_with_0_params(object, object->ce, NULL, "get", &referent);
			reach(&all, &referent);
			zval_ptr_dtor(&referent); /* something else holds it, too */
		} else {
			reach_from(&all, object);
		}
	}
	zend_hash_destroy(&all.seen);
	free(all.values);
	return wrong;
}

static void forget_closures(void)
{
	for (size_t i = 0; i < closure_count; i++) {
		restore_closure(i);
		free(instances_script.closure_caches[i]);
	}
	*closure_handlers = other_handlers;
	bind_of_closures()->handler = other_bind;
	zend_hash_destroy(&places_of_closures);
	left_variables.pDestructor = NULL; /* those of closures that are still there end with PHP's memory */
	zend_hash_destroy(&left_variables);
	free(closures);
	closures = NULL;
	closure_count = 0;
}

/* Gives offsets to what the code that is running defines: the functions and closures in it. */
static void give_offsets_to_frames(void)
{
	for (zend_execute_data *frame = EG(current_execute_data); frame; frame = frame->prev_execute_data) {
		if (frame->func && ZEND_USER_CODE(frame->func->type)) {
			give_offsets_to_definitions(&frame->func->op_array, instances_running);
		}
	}
}

/* --- what an instance begins with ------------------------------------------------------------------------------------- */

static void copy_value(zval *to, const zval *from)
{
	ZVAL_DEREF(from);
	ZVAL_COPY(to, from);
}

static void copy_code(const zend_function *code, const spindle_instance *to, const spindle_instance *from)
{
	if (code->type == ZEND_INTERNAL_FUNCTION) {
		/* What observers keep for it. */
		if (ZEND_MAP_PTR_IS_OFFSET(code->common.run_time_cache)) {
			void **source = entry(from, ZEND_MAP_PTR(code->common.run_time_cache));
			void **target = entry(to, ZEND_MAP_PTR(code->common.run_time_cache));

			if (source && target) {
				*target = *source;
			}
		}
		return;
	}
	if (code->op_array.static_variables && ZEND_MAP_PTR_IS_OFFSET(code->op_array.static_variables_ptr)) {
		void **source = entry(from, ZEND_MAP_PTR(code->op_array.static_variables_ptr));
		void **target = entry(to, ZEND_MAP_PTR(code->op_array.static_variables_ptr));

		if (source && *source && target && !*target) {
			zend_array *variables = *source;
			zend_array *copy = zend_new_array(variables->nNumUsed);
			zend_string *name;
			zval *value, copied;

			zend_hash_real_init_mixed(copy);
			ZEND_HASH_MAP_FOREACH_STR_KEY_VAL(variables, name, value) {
				copy_value(&copied, value);
				zend_hash_add_new(copy, name, &copied); /* at the same place: code knows that */
			} ZEND_HASH_FOREACH_END();
			*target = copy;
		}
	}
	for (uint32_t i = 0; i < code->op_array.num_dynamic_func_defs; i++) {
		copy_code((const zend_function *) code->op_array.dynamic_func_defs[i], to, from);
	}
}

/* Returns memory for the static properties of a class: that which the instance has had for them, if it has begun before. */
static zval *memory_of_statics(const spindle_instance *of, const zend_class_entry *ce)
{
	zval *memory = zend_hash_index_find_ptr(&of->statics, (zend_ulong) ZEND_MAP_PTR(ce->static_members_table));

	return memory ? memory : emalloc(ce->default_static_members_count * sizeof(zval));
}

/* Gives an instance that begins again the static properties with which a class is declared, in the memory that it has had for them. */
static void renew_statics(const zend_class_entry *ce, const spindle_instance *of)
{
	void **target = entry_of_statics(of, ce);
	zval *memory;

	if (!target || *target) {
		return;
	}
	memory = zend_hash_index_find_ptr(&of->statics, (zend_ulong) ZEND_MAP_PTR(ce->static_members_table));
	if (!memory) {
		return;
	}
	if (ce->parent) {
		renew_statics(ce->parent, of);
	}
	for (int i = 0; i < ce->default_static_members_count; i++) {
		const zval *value = &ce->default_static_members_table[i];

		if (Z_TYPE_P(value) == IS_INDIRECT) {
			void **parent = ZEND_MAP_PTR_IS_OFFSET(ce->parent->static_members_table)
				? entry(of, ZEND_MAP_PTR(ce->parent->static_members_table)) : NULL;
			zval *of_parent = parent && *parent ? (zval *) *parent + i : CE_STATIC_MEMBERS(ce->parent) + i;

			ZVAL_DEINDIRECT(of_parent);
			ZVAL_INDIRECT(&memory[i], of_parent);
		} else {
			ZVAL_COPY_OR_DUP(&memory[i], (zval *) value);
		}
	}
	*target = memory;
}

static void copy_statics(const zend_class_entry *ce, const spindle_instance *to, const spindle_instance *from)
{
	void **source = entry_of_statics(from, ce), **target = entry_of_statics(to, ce);
	zval *values, *copies;
	int inherited = 0;

	if (!source || !*source || !target || *target) {
		return;
	}
	values = *source;
	copies = memory_of_statics(to, ce);
	if (ce->parent && ce->parent->default_static_members_count) {
		copy_statics(ce->parent, to, from);
		inherited = ce->parent->default_static_members_count;
	}
	for (int i = 0; i < ce->default_static_members_count; i++) {
		if (i < inherited && Z_TYPE(values[i]) == IS_INDIRECT) {
			/* Those of classes of the engine, which have no entry, all instances share. */
			void **parent = ZEND_MAP_PTR_IS_OFFSET(ce->parent->static_members_table)
				? entry(to, ZEND_MAP_PTR(ce->parent->static_members_table)) : NULL;
			zval *of_parent = parent && *parent ? (zval *) *parent + i : &values[i];

			ZVAL_DEINDIRECT(of_parent);
			ZVAL_INDIRECT(&copies[i], of_parent);
		} else {
			copy_value(&copies[i], &values[i]);
		}
	}
	*target = copies;
}

static void copy_class(zend_class_entry *ce, const spindle_instance *to, const spindle_instance *from)
{
	zend_function *code;

	copy_statics(ce, to, from);
	/* Constants that were evaluated: cases of enumerations are the same objects for all. */
	if (ZEND_MAP_PTR(ce->mutable_data) && ZEND_MAP_PTR_IS_OFFSET(ce->mutable_data)) {
		void **source = entry(from, ZEND_MAP_PTR(ce->mutable_data));
		void **target = entry(to, ZEND_MAP_PTR(ce->mutable_data));

		if (source && *source && target && !*target) {
			zend_class_mutable_data *data = malloc(sizeof(*data));

			*data = *(const zend_class_mutable_data *) *source;
			data->ce_flags = ce->ce_flags; /* the defaults of static properties are still to be evaluated */
			*target = data;
		}
	}
	ZEND_HASH_MAP_FOREACH_PTR(&ce->function_table, code) {
		copy_code(code, to, from);
	} ZEND_HASH_FOREACH_END();
	EACH_HOOK(ce, hook, copy_code(hook, to, from));
}

static void copy_globals(zend_array *to, zend_array *from)
{
	zend_string *name;
	zval *value, copied;

	ZEND_HASH_MAP_FOREACH_STR_KEY_VAL_IND(from, name, value) {
		if (name && !zend_hash_exists(CG(auto_globals), name)) {
			copy_value(&copied, value);
			zend_hash_update(to, name, &copied);
		}
	} ZEND_HASH_FOREACH_END();
}

static zend_array *globals_of(spindle_instance *of)
{
	return of == instances_running ? &EG(symbol_table) : &of->globals;
}

static void begin(spindle_instance *this, spindle_instance *from)
{
	zend_class_entry *ce;
	zend_function *code;

	ZEND_HASH_MAP_FOREACH_PTR(CG(class_table), ce) {
		copy_class(ce, this, from);
	} ZEND_HASH_FOREACH_END();
	ZEND_HASH_MAP_FOREACH_PTR(CG(class_table), ce) {
		renew_statics(ce, this);
	} ZEND_HASH_FOREACH_END();
	ZEND_HASH_MAP_FOREACH_PTR(CG(function_table), code) {
		copy_code(code, this, from);
	} ZEND_HASH_FOREACH_END();
	copy_globals(globals_of(this), globals_of(from));
}

static spindle_instance *make(uint16_t number)
{
	spindle_instance *this = calloc(1, sizeof(*this));

	this->table = calloc(STATIC_ENTRIES + CG(map_ptr_size), sizeof(void *));
	/* Those of internal functions and classes. */
	memcpy(this->table, CG(map_ptr_real_base), STATIC_ENTRIES * sizeof(void *));
	this->size = CG(map_ptr_size);
	this->last = CG(map_ptr_last);
	this->free_object = -1;
	this->number = number;
	zend_hash_init(&this->globals, 8, NULL, ZVAL_PTR_DTOR, 0);
	zend_hash_real_init_mixed(&this->globals);
	zend_hash_init(&this->statics, 8, NULL, NULL, 0);
	make_closure_caches(this);
	this->next = instances_first;
	instances_first = this;
	return this;
}

/* Returns true for a value that has objects in it which instances would share: others than cases of enumerations and closures. */
static bool has_objects(const zval *value, int depth)
{
	zval *one;

	ZVAL_DEREF(value);
	if (Z_TYPE_P(value) == IS_OBJECT) {
		const zend_class_entry *ce = Z_OBJCE_P(value);

		return !(ce->ce_flags & ZEND_ACC_ENUM) && ce != zend_ce_closure && !zend_string_equals_literal(ce->name, "Composer\\Autoload\\ClassLoader");
	}
	if (Z_TYPE_P(value) == IS_ARRAY && depth < 4) {
		ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(value), one) {
			if (has_objects(one, depth + 1)) {
				return true;
			}
		} ZEND_HASH_FOREACH_END();
	}
	return false;
}

static void name_shared(smart_str *names, zend_class_entry *ce)
{
	zend_property_info *info;
	zend_string *name;
	zval *values = CE_STATIC_MEMBERS(ce);

	if (!values || ce->type != ZEND_USER_CLASS) {
		return;
	}
	ZEND_HASH_MAP_FOREACH_STR_KEY_PTR(&ce->properties_info, name, info) {
		if ((info->flags & ZEND_ACC_STATIC) && info->ce == ce && Z_TYPE(values[info->offset]) != IS_INDIRECT
				&& has_objects(&values[info->offset], 0)) {
			smart_str_appends(names, names->s ? ", " : "");
			smart_str_append(names, ce->name);
			smart_str_appends(names, "::$");
			smart_str_append(names, name);
		}
	} ZEND_HASH_FOREACH_END();
}

zend_string *spindle_instances_shared(void)
{
	smart_str names = {0};
	zend_class_entry *ce;

	ZEND_HASH_MAP_FOREACH_PTR(CG(class_table), ce) {
		name_shared(&names, ce);
	} ZEND_HASH_FOREACH_END();
	smart_str_0(&names);
	return names.s;
}

/* Prepares what all instances can call from now on. */
static void share_code(void)
{
	give_offsets_to_frames();
	give_offsets();
	make_all_closure_caches();
}

spindle_instance *spindle_instances_prepare(void)
{
	spindle_instance *seed;

	if (!instances_first) {
		classes_before = functions_before = 0;
		zend_hash_init(&definitions, 8, NULL, NULL, 1);
		zend_hash_init(&places_of_closures, 8, NULL, NULL, 1);
		zend_hash_init(&left_variables, 8, NULL, ZVAL_PTR_DTOR, 0);
		instance_objects_begin();
		instance_extensions_begin();
		watch_closures();
	}
	process = getpid();
	instance_autoloaders_begin();
	remember_closures();
	share_code();
	seed = make(0);
	begin(seed, &instances_script);
	instance_extensions_note(&seed->booted);
	return seed;
}

const char *spindle_instances_remember(zval *value)
{
	const char *wrong = remember_reachable(value);

	share_code();
	return wrong;
}

spindle_instance *spindle_instance_new(uint16_t number, spindle_instance *seed)
{
	spindle_instance *this = make(number);

	instance_objects_add(this);
	this->seed = seed;
	return this;
}

void spindle_instance_begin(spindle_instance *this)
{
	spindle_instance *before = instances_running;

	begin(this, this->seed);
	spindle_instance_switch(this);
	instance_extensions_start(&this->seed->booted);
	spindle_instance_switch(before);
}

/* --- the exchange ------------------------------------------------------------------------------------------------------- */

spindle_instance *spindle_instance_running(void)
{
	return instances_running == &instances_script ? NULL : instances_running;
}

void spindle_instance_enter(spindle_instance *to)
{
	spindle_instance_switch(to);
	if (UNEXPECTED(to && to->superglobals_of)) {
		spindle_sapi_superglobals_aside(to->superglobals_of);
	}
}

void spindle_instance_switch(spindle_instance *to)
{
	spindle_instance *from = instances_running;
	size_t last;

	to = to ? to : &instances_script;
	if (to == from) {
		return;
	}
	if (UNEXPECTED(has_new_code())) {
		give_offsets();
	}
	instance_objects_leave(from);
	last = CG(map_ptr_last);
	from->table = CG(map_ptr_real_base);
	from->size = CG(map_ptr_size);
	from->last = last;
	memcpy(&from->globals, &EG(symbol_table), sizeof(zend_array));
	if (UNEXPECTED(to->size < last)) {
		to->table = realloc(to->table, (STATIC_ENTRIES + CG(map_ptr_size)) * sizeof(void *));
		to->size = CG(map_ptr_size);
	}
	if (UNEXPECTED(to->last < last)) {
		memset(to->table + STATIC_ENTRIES + to->last, 0, (last - to->last) * sizeof(void *));
		to->last = last;
	}
	CG(map_ptr_real_base) = to->table;
	CG(map_ptr_base) = ZEND_MAP_PTR_BIASED_BASE(to->table);
	CG(map_ptr_size) = to->size;
	instance_objects_enter(to);
	memcpy(&EG(symbol_table), &to->globals, sizeof(zend_array));
	instance_extensions_switch(&from->extensions, &to->extensions);
	for (size_t i = 0; i < closure_count; i++) {
		zend_op_array *code = code_of(closures[i].object);

		from->closure_caches[i] = ZEND_MAP_PTR(code->run_time_cache);
		ZEND_MAP_PTR_INIT(code->run_time_cache, to->closure_caches[i]);
	}
	instances_running = to;
	for (size_t i = 0; i < unsettled_count; i++) {
		unsettled[i]->ce_flags &= ~ZEND_ACC_CONSTANTS_UPDATED;
		unsettled[i]->ce_flags |= ZEND_ACC_HAS_AST_STATICS;
	}
}

/* --- the end ------------------------------------------------------------------------------------------------------------ */

/* What an instance that ends has had. It is released when nothing leads to it any more, since that may run code. */
static zval *ended;
static size_t ended_count, ended_room;

static void release_later(const zval *value)
{
	if (ended_count == ended_room) {
		ended_room = ended_room ? 2 * ended_room : 256;
		ended = realloc(ended, ended_room * sizeof(*ended));
	}
	ZVAL_COPY_VALUE(&ended[ended_count++], value);
}

/* Empties a cache, whose memory the next one uses. What code has looked up is of the static properties that are freed. */
static void end_cache(uint8_t *kept, const void *offset, size_t size)
{
	void **place = entry(instances_running, offset);

	if (place && *place) {
		memset(*place, 0, size);
		kept[((uintptr_t) offset - 1) / sizeof(void *)] = 1;
	}
}

static void end_code(uint8_t *kept, zend_function *code)
{
	if (code->type != ZEND_USER_FUNCTION) {
		if (ZEND_MAP_PTR_IS_OFFSET(code->common.run_time_cache) && entry(instances_running, ZEND_MAP_PTR(code->common.run_time_cache))) {
			kept[((uintptr_t) ZEND_MAP_PTR(code->common.run_time_cache) - 1) / sizeof(void *)] = 1;
		}
		return;
	}
	if (code->op_array.static_variables && ZEND_MAP_PTR_IS_OFFSET(code->op_array.static_variables_ptr)) {
		void **place = entry(instances_running, ZEND_MAP_PTR(code->op_array.static_variables_ptr));

		if (place && *place) {
			zval variables;

			ZVAL_ARR(&variables, *place);
			release_later(&variables);
			*place = NULL;
		}
	}
	if (ZEND_MAP_PTR_IS_OFFSET(code->op_array.run_time_cache)) {
		end_cache(kept, ZEND_MAP_PTR(code->op_array.run_time_cache), code->op_array.cache_size);
	}
	for (uint32_t i = 0; i < code->op_array.num_dynamic_func_defs; i++) {
		end_code(kept, (zend_function *) code->op_array.dynamic_func_defs[i]);
	}
}

static void end_class(uint8_t *kept, zend_class_entry *ce)
{
	void **place = entry_of_statics(instances_running, ce);
	zend_function *code;

	if (place && *place) {
		zval *values = *place;

		for (int i = 0; i < ce->default_static_members_count; i++) {
			if (Z_TYPE(values[i]) == IS_INDIRECT) {
				continue;
			}
			if (Z_ISREF(values[i])) {
				zend_property_info *info;

				ZEND_REF_FOREACH_TYPE_SOURCES(Z_REF(values[i]), info) {
					if (info->ce == ce && info->offset == (uint32_t) i) {
						ZEND_REF_DEL_TYPE_SOURCE(Z_REF(values[i]), info);
						break;
					}
				} ZEND_REF_FOREACH_TYPE_SOURCES_END();
			}
			release_later(&values[i]);
			ZVAL_NULL(&values[i]);
		}
		*place = NULL;
		zend_hash_index_update_ptr(&instances_running->statics, (zend_ulong) ZEND_MAP_PTR(ce->static_members_table), values);
	}
	/* The constants that were evaluated stay; the defaults of static properties are to be evaluated for those that follow. */
	if (ZEND_MAP_PTR(ce->mutable_data) && ZEND_MAP_PTR_IS_OFFSET(ce->mutable_data)
			&& (place = entry(instances_running, ZEND_MAP_PTR(ce->mutable_data))) && *place) {
		zend_class_mutable_data *data = *place;

		data->ce_flags = ce->ce_flags;
		kept[((uintptr_t) ZEND_MAP_PTR(ce->mutable_data) - 1) / sizeof(void *)] = 1;
	}
	ZEND_HASH_MAP_FOREACH_PTR(&ce->function_table, code) {
		end_code(kept, code);
	} ZEND_HASH_FOREACH_END();
	EACH_HOOK(ce, hook, end_code(kept, hook));
}

/* Gives a closure that stands for a function, and has no reference to its static variables, some that are as at first. */
static void leave_variables(const zend_object *closure, zend_op_array *code)
{
	zval variables;

	ZVAL_ARR(&variables, zend_array_dup(code->static_variables));
	ZEND_MAP_PTR_INIT(code->static_variables_ptr, Z_ARR(variables));
	zend_hash_index_update(&left_variables, (zend_ulong) (uintptr_t) closure >> 3, &variables);
}

/* Ends what closures have that are left. The caches of those that no other instance has called are emptied: this one may have made them, and
 * the engine, which keeps them as callbacks, may have called others here without asking whose they are. Code that runs looks up again what
 * it finds empty; where what observers keep is, is left. */
static void end_other_closures(void)
{
	size_t kept = (size_t) zend_op_array_extension_handles * sizeof(void *);

	for (uint32_t i = 1; i < EG(objects_store).top; i++) {
		zend_object *one = EG(objects_store).object_buckets[i];
		zend_op_array *code;

		if (!IS_OBJ_VALID(one) || one->ce != zend_ce_closure || (code = code_of(one))->type != ZEND_USER_FUNCTION) {
			continue;
		}
		if ((code->fn_flags & ZEND_ACC_FAKE_CLOSURE) && code->static_variables && instance_objects_maker(i) == instances_running) {
			leave_variables(one, code);
		}
		if (!ZEND_MAP_PTR_IS_OFFSET(code->run_time_cache) && ZEND_MAP_PTR(code->run_time_cache)
				&& !zend_hash_index_exists(&places_of_closures, (zend_ulong) (uintptr_t) one >> 3)) {
			memset((char *) ZEND_MAP_PTR(code->run_time_cache) + kept, 0, (size_t) code->cache_size - kept);
		}
	}
}

/* Takes all that the running instance has out of its table. Runs no code. */
static void end_table(void)
{
	for (int i = 0; i < 2; i++) {
		if (!Z_ISUNDEF(instances_running->autoloaders[i])) {
			release_later(&instances_running->autoloaders[i]);
			ZVAL_UNDEF(&instances_running->autoloaders[i]);
		}
	}
	instances_running->has_all_autoloaders = false;
	size_t last = CG(map_ptr_last);
	uint8_t *kept = calloc(last + 1, 1);
	void **entries = (void **) CG(map_ptr_real_base) + STATIC_ENTRIES;
	zend_class_entry *ce;
	zend_function *code;
	zend_ulong offset;
	zval *size;

	ZEND_HASH_MAP_FOREACH_PTR(CG(class_table), ce) {
		end_class(kept, ce);
	} ZEND_HASH_FOREACH_END();
	ZEND_HASH_MAP_FOREACH_PTR(CG(function_table), code) {
		end_code(kept, code);
	} ZEND_HASH_FOREACH_END();
	ZEND_HASH_FOREACH_NUM_KEY_VAL(&definitions, offset, size) {
		end_cache(kept, (const void *) offset, Z_LVAL_P(size));
	} ZEND_HASH_FOREACH_END();
	for (size_t i = 0; i < closure_count; i++) {
		memset(ZEND_MAP_PTR(code_of(closures[i].object)->run_time_cache), 0, code_of(closures[i].object)->cache_size);
	}
	end_other_closures();
	for (size_t i = 0; i < last; i++) {
		if (entries[i] && !kept[i]) {
			entries[i] = NULL;
		}
	}
	free(kept);
}

void spindle_instance_free(void)
{
	zend_hash_graceful_reverse_destroy(&EG(symbol_table));
	zend_hash_init(&EG(symbol_table), 8, NULL, ZVAL_PTR_DTOR, 0);
	zend_hash_real_init_mixed(&EG(symbol_table));
	for (int round = 0; round < MOST_ROUNDS; round++) {
		size_t count;
		zval *values;

		if (has_new_code()) {
			give_offsets();
		}
		instance_extensions_stop();
		end_table();
		values = ended;
		count = ended_count;
		ended = NULL;
		ended_count = ended_room = 0;
		for (size_t i = 0; i < count; i++) {
			zval_ptr_dtor(&values[i]);
		}
		free(values);
		gc_collect_cycles();
		if (count == 0) {
			break;
		}
	}
	instance_extensions_forget(&instances_running->booted);
	instance_objects_leave_behind();
}

void spindle_instances_survive(spindle_instance *of)
{
	instance_objects_survive();
	spindle_instance_enter(of);
}

/* Those that were forgotten, whose memory of static properties others may have used. */
static spindle_instance *forgotten;

static void free_forgotten(void)
{
	while (forgotten) {
		spindle_instance *one = forgotten;
		void *memory;

		forgotten = one->next;
		ZEND_HASH_FOREACH_PTR(&one->statics, memory) {
			efree(memory);
		} ZEND_HASH_FOREACH_END();
		zend_hash_destroy(&one->statics);
		free(one);
	}
}

static void forget(spindle_instance *of)
{
	if (of->superglobals_of) {
		spindle_sapi_superglobals_end(of->superglobals_of);
	}
	zend_hash_destroy(&of->globals);
	instance_extensions_forget(&of->booted);
	for (size_t i = 0; i < of->closure_count; i++) {
		if (closures[i].maker == of) {
			take_over_closure(i);
		}
		free(of->closure_caches[i]);
	}
	free(of->closure_caches);
	free(of->table);
	of->next = forgotten;
	forgotten = of;
}

void spindle_instances_call_destructors(void)
{
	for (spindle_instance *one = instances_first; one; one = one->next) {
		if (one->number) {
			spindle_instance_enter(one);
			instance_objects_call_destructors();
			spindle_instance_enter(NULL);
		}
	}
}

void spindle_instances_end(void)
{
	spindle_instances_survive(NULL);
	while (instances_first) {
		spindle_instance *one = instances_first;

		if (process == getpid()) { /* and not the child of a fork, which uses what its parent has */
			zend_try {
				spindle_instance_enter(one);
				spindle_instance_free();
			} zend_end_try();
			spindle_instances_survive(NULL);
		}
		instances_first = one->next;
		instance_objects_forget(one);
		forget(one);
	}
	instance_autoloaders_end();
	instance_objects_end();
	forget_closures();
	free_forgotten();
	free(instances_script.closure_caches);
	zend_hash_destroy(&definitions);
	free(unsettled);
	free(unlinked);
	instances_script.closure_caches = NULL;
	unsettled = NULL;
	unlinked = NULL;
	instances_script.closure_count = unsettled_count = unlinked_count = own_entries = 0;
}
