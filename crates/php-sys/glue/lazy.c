/*
 * Lazy objects (PHP 8.4) whose initializer's coroutine is suspended.
 *
 * The engine clears an object's lazy flags before it calls the initializer: to the code that this calls, the object is an
 * ordinary one with some properties missing. Other coroutines must not see it so: while its coroutine is suspended,
 * the object has no properties, and handlers that wait. The properties are put back when the coroutine is resumed.
 *
 * The engine keeps its data about a lazy object (`EG(lazy_objects_store)`, by the object's number) until the object is
 * initialized, or longer; so an object with data and without flags is being initialized.
 */
#include "glue.h"

#ifdef SPINDLE_LAZY_OBJECTS

static zend_object_handlers waiting;

bool spindle_lazy_is_initializing(zend_object *object)
{
	return !zend_object_is_lazy(object) && zend_hash_index_exists(&EG(lazy_objects_store).infos, object->handle);
}

/* Returns true if one of the frames that were not there at an earlier suspension may be a call of an initializer: the
 * engine calls those itself, with one argument. */
static bool may_initialize(void)
{
	for (zend_execute_data *frame = EG(current_execute_data); frame; frame = frame->prev_execute_data) {
		if ((ZEND_CALL_INFO(frame) & (SPINDLE_HAS_NO_MARKS | ZEND_CALL_GENERATOR)) == SPINDLE_HAS_NO_MARKS) {
			return false;
		}
		if ((ZEND_CALL_INFO(frame) & ZEND_CALL_TOP) && ZEND_CALL_NUM_ARGS(frame) == 1) {
			return true;
		}
	}
	return false;
}

void spindle_lazy_find(void *list, void (*found)(void *list, zend_object *object))
{
	zend_ulong number;
	if (!zend_hash_num_elements(&EG(lazy_objects_store).infos) || !may_initialize()) {
		return;
	}
	ZEND_HASH_FOREACH_NUM_KEY(&EG(lazy_objects_store).infos, number) {
		zend_object *object = EG(objects_store).object_buckets[number];
		if (IS_OBJ_VALID(object) && !zend_object_is_lazy(object) && object->handlers == &std_object_handlers) {
			found(list, object);
		}
	} ZEND_HASH_FOREACH_END();
}

void spindle_lazy_hide(zend_object *object, spindle_lazy *lazy)
{
	int count = object->ce->default_properties_count;
	lazy->values = count ? safe_emalloc(count, sizeof(zval), 0) : NULL;
	for (int index = 0; index < count; index++) {
		lazy->values[index] = object->properties_table[index];
		ZVAL_UNDEF(&object->properties_table[index]);
	}
	lazy->properties = object->properties;
	object->properties = NULL;
	lazy->handlers = object->handlers;
	object->handlers = &waiting;
}

void spindle_lazy_show(zend_object *object, spindle_lazy *lazy)
{
	int count = object->ce->default_properties_count;
	HashTable *meanwhile = object->properties;
	for (int index = 0; index < count; index++) {
		object->properties_table[index] = lazy->values[index];
	}
	if (lazy->values) {
		efree(lazy->values);
	}
	object->properties = lazy->properties;
	object->handlers = lazy->handlers;
	if (meanwhile) {
		/* The engine adds dynamic properties without asking a handler. */
		zend_string *name;
		zval *value;
		zend_std_get_properties(object);
		ZEND_HASH_FOREACH_STR_KEY_VAL(meanwhile, name, value) {
			if (name && Z_TYPE_P(value) != IS_INDIRECT) {
				Z_TRY_ADDREF_P(value);
				zend_hash_update(object->properties, name, value);
			}
		} ZEND_HASH_FOREACH_END();
		zend_release_properties(meanwhile);
	}
	memset(lazy, 0, sizeof(*lazy));
}

/* --- handlers of objects that others initialize ----------------------------------------------------------------- */

/* Each waits, and then calls the handler that the object has by that time. If the wait ends with an exception, it
 * returns the same as the engine's handler does with one. */

static zval *read_property(zend_object *object, zend_string *name, int type, void **cache, zval *result)
{
	return spindle_lazy_wait(object) ? object->handlers->read_property(object, name, type, cache, result) : &EG(uninitialized_zval);
}

static zval *write_property(zend_object *object, zend_string *name, zval *value, void **cache)
{
	return spindle_lazy_wait(object) ? object->handlers->write_property(object, name, value, cache) : &EG(error_zval);
}

static zval *get_property_ptr_ptr(zend_object *object, zend_string *name, int type, void **cache)
{
	return spindle_lazy_wait(object) ? object->handlers->get_property_ptr_ptr(object, name, type, cache) : &EG(error_zval);
}

static int has_property(zend_object *object, zend_string *name, int kind, void **cache)
{
	return spindle_lazy_wait(object) ? object->handlers->has_property(object, name, kind, cache) : 0;
}

static void unset_property(zend_object *object, zend_string *name, void **cache)
{
	if (spindle_lazy_wait(object)) {
		object->handlers->unset_property(object, name, cache);
	}
}

static HashTable *get_properties(zend_object *object)
{
	return spindle_lazy_wait(object) ? object->handlers->get_properties(object) : (HashTable *) &zend_empty_array;
}

static HashTable *get_properties_for(zend_object *object, zend_prop_purpose purpose)
{
	zval value;
	if (!spindle_lazy_wait(object)) {
		return (HashTable *) &zend_empty_array;
	}
	ZVAL_OBJ(&value, object);
	return zend_get_properties_for(&value, purpose);
}

static HashTable *get_debug_info(zend_object *object, int *is_temporary)
{
	*is_temporary = 0;
	return spindle_lazy_wait(object) ? object->handlers->get_debug_info(object, is_temporary) : (HashTable *) &zend_empty_array;
}

/* With an exception in flight, the clone is an object that no code uses. */
static zend_object *no_clone(zend_object *object)
{
	zend_object *clone = zend_objects_new(object->ce);
	for (int index = 0; index < object->ce->default_properties_count; index++) {
		ZVAL_UNDEF(&clone->properties_table[index]);
		Z_PROP_FLAG_P(&clone->properties_table[index]) = 0;
	}
	GC_ADD_FLAGS(clone, IS_OBJ_DESTRUCTOR_CALLED);
	return clone;
}

static zend_object *clone_obj(zend_object *object)
{
	return spindle_lazy_wait(object) ? object->handlers->clone_obj(object) : no_clone(object);
}

#ifdef SPINDLE_CLONE_WITH
static zend_object *clone_obj_with(zend_object *object, const zend_class_entry *scope, const HashTable *properties)
{
	return spindle_lazy_wait(object) ? object->handlers->clone_obj_with(object, scope, properties) : no_clone(object);
}
#endif

/* Either of the two may be the one that others initialize. */
int spindle_lazy_compare(zval *one, zval *other)
{
	if ((Z_TYPE_P(one) == IS_OBJECT && !spindle_lazy_wait(Z_OBJ_P(one)))
			|| (Z_TYPE_P(other) == IS_OBJECT && !spindle_lazy_wait(Z_OBJ_P(other)))) {
		return ZEND_UNCOMPARABLE;
	}
	return zend_std_compare_objects(one, other);
}

/* The part that is put aside is alive: the collector finds no references to it. */
static HashTable *get_gc(zend_object *object, zval **values, int *count)
{
	*values = NULL;
	*count = 0;
	return NULL;
}

void spindle_lazy_install(void)
{
	waiting = std_object_handlers;
	waiting.read_property = read_property;
	waiting.write_property = write_property;
	waiting.get_property_ptr_ptr = get_property_ptr_ptr;
	waiting.has_property = has_property;
	waiting.unset_property = unset_property;
	waiting.get_properties = get_properties;
	waiting.get_properties_for = get_properties_for;
	waiting.get_debug_info = get_debug_info;
	waiting.get_gc = get_gc;
	waiting.clone_obj = clone_obj;
#ifdef SPINDLE_CLONE_WITH
	waiting.clone_obj_with = clone_obj_with;
#endif
	waiting.compare = spindle_lazy_compare;
}

bool spindle_lazy_is_hidden(const zend_object *object)
{
	return object->handlers == &waiting;
}

#endif
