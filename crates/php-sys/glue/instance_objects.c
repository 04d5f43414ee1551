/* Whose an object is. Objects belong to the instance that has made them, because their destructors run PHP code, also when the cycle
 * collector calls them. The numbers of objects that are free are an instance's own, so that the number of an object says whose it is. */
#include "instances.h"

#include "zend_gc.h"
#include "zend_generators.h"

/* How many objects there were when the running instance was entered, and its first number that was free then. */
static uint32_t objects_before;
static int free_before = -1;

/* Whose object has a number. */
static uint16_t *owners;
static size_t owners_size;

/* The instance in which cycles are collected; NULL: none are. */
static spindle_instance *collecting;

/* All instances, by their numbers. */
static spindle_instance **numbered;
static size_t numbers;

static spindle_instance *by_number(uint16_t number)
{
	return number && number < numbers ? numbered[number] : &instances_script;
}

void instance_objects_add(spindle_instance *this)
{
	if (this->number >= numbers) {
		numbered = realloc(numbered, (this->number + 1) * sizeof(*numbered));
		for (; numbers <= this->number; numbers++) {
			numbered[numbers] = &instances_script;
		}
	}
	numbered[this->number] = this;
}

void instance_objects_begin(void)
{
	objects_before = 0;
	free_before = -1;
}

#define MOST_TAKEN_OVER 256

/* Notes whose the objects are that were made since the running instance was entered. */
static void note_objects(void)
{
	uint32_t top = EG(objects_store).top;

	/* The numbers of objects of others that it was the last to hold are its own now. */
	for (int one = EG(objects_store).free_list_head, count = 0; one != -1 && one != free_before && count < MOST_TAKEN_OVER; count++) {
		if ((size_t) one < objects_before) {
			owners[one] = instances_running->number;
		}
		one = GET_OBJ_BUCKET_NUMBER(EG(objects_store).object_buckets[one]);
	}
	free_before = EG(objects_store).free_list_head;
	if (EXPECTED(top <= objects_before)) {
		return;
	}
	if (UNEXPECTED(top > owners_size)) {
		owners_size = EG(objects_store).size > top ? EG(objects_store).size : top;
		owners = realloc(owners, owners_size * sizeof(*owners));
	}
	for (uint32_t i = objects_before; i < top; i++) {
		owners[i] = instances_running->number;
	}
	objects_before = top;
}

void instance_objects_leave(spindle_instance *from)
{
	note_objects();
	from->free_object = EG(objects_store).free_list_head;
}

void instance_objects_enter(const spindle_instance *to)
{
	EG(objects_store).free_list_head = free_before = to->free_object;
}

void spindle_object_freed(const zend_object *object)
{
	if (UNEXPECTED(instances_first) && object->handle < objects_before && !collecting) {
		owners[object->handle] = instances_running->number;
	}
}

spindle_instance *instance_objects_maker(uint32_t handle)
{
	return handle < objects_before ? by_number(owners[handle]) : instances_running;
}

/* --- the cycle collector ------------------------------------------------------------------------------------------------ */

/* Its numbers of free objects while it collects. */
static int free_object;

static void (*other_executor)(zend_execute_data *execute_data);

/* Runs the destructor, or the rest of the generator, that the collector calls: as code of the object's instance. */
static void execute_for_collector(zend_execute_data *frame)
{
	zend_object *object = NULL;
	spindle_instance *of;

	zend_execute_ex = other_executor;
	if (ZEND_CALL_INFO(frame) & ZEND_CALL_GENERATOR) {
		object = (zend_object *) frame->return_value;
	} else if (Z_TYPE(frame->This) == IS_OBJECT) {
		object = Z_OBJ(frame->This);
	}
	of = object && object->handle < objects_before ? by_number(owners[object->handle]) : collecting;
	if (of != collecting) {
		spindle_instance_enter(of);
		if (!(ZEND_CALL_INFO(frame) & ZEND_CALL_GENERATOR)) {
			if (!RUN_TIME_CACHE(&frame->func->op_array)) {
				zend_init_func_run_time_cache(&frame->func->op_array);
			}
			frame->run_time_cache = RUN_TIME_CACHE(&frame->func->op_array);
		}
	}
	zend_execute_ex(frame);
	if (of != collecting) {
		spindle_instance_enter(collecting);
	}
	zend_execute_ex = execute_for_collector;
}

int spindle_instances_collect(int (*collect)(void))
{
	uint32_t flags = EG(flags);
	int next, count;

	if (!instances_first || zend_execute_ex == execute_for_collector) {
		return collect();
	}
	note_objects();
	collecting = instances_running;
	/* Objects that are freed give their numbers back to whose they are. */
	free_object = EG(objects_store).free_list_head;
	EG(objects_store).free_list_head = free_before = -1;
	EG(flags) |= EG_FLAGS_OBJECT_STORE_NO_REUSE;
	other_executor = zend_execute_ex;
	zend_execute_ex = execute_for_collector;
	count = collect();
	zend_execute_ex = other_executor;
	EG(flags) = (EG(flags) & ~EG_FLAGS_OBJECT_STORE_NO_REUSE) | (flags & EG_FLAGS_OBJECT_STORE_NO_REUSE);
	next = EG(objects_store).free_list_head;
	EG(objects_store).free_list_head = free_before = free_object;
	note_objects();
	while (next != -1) {
		int object = next;
		spindle_instance *of = by_number(owners[object]);
		int *list = of == collecting ? &EG(objects_store).free_list_head : &of->free_object;

		next = GET_OBJ_BUCKET_NUMBER(EG(objects_store).object_buckets[object]);
		SET_OBJ_BUCKET_NUMBER(EG(objects_store).object_buckets[object], *list);
		*list = object;
	}
	free_before = EG(objects_store).free_list_head;
	collecting = NULL;
	return count;
}

void instance_objects_survive(void)
{
	EG(flags) &= ~EG_FLAGS_OBJECT_STORE_NO_REUSE;
	if (zend_execute_ex == execute_for_collector) {
		zend_execute_ex = other_executor;
	}
	if (collecting) {
		/* The numbers of what was freed are lost. */
		*(collecting == instances_running ? &EG(objects_store).free_list_head : &collecting->free_object) = free_object;
		collecting = NULL;
		free_before = EG(objects_store).free_list_head;
	}
}

/* --- the end ------------------------------------------------------------------------------------------------------------ */

/* Calls those of the objects that it has made and that are among these, or all; returns how many. */
static size_t call_destructors(const HashTable *among)
{
	size_t count = 0;

	note_objects();
	for (uint32_t i = 1; i < EG(objects_store).top && i < objects_before; i++) {
		zend_object *one = EG(objects_store).object_buckets[i];

		if (owners[i] != instances_running->number || !IS_OBJ_VALID(one) || (OBJ_FLAGS(one) & IS_OBJ_DESTRUCTOR_CALLED)
				|| (among && !zend_hash_index_exists(among, (zend_ulong) (uintptr_t) one >> 3))) {
			continue;
		}
		GC_ADD_FLAGS(one, IS_OBJ_DESTRUCTOR_CALLED);
		if (one->handlers->dtor_obj != zend_objects_destroy_object || one->ce->destructor) {
			GC_ADDREF(one);
			one->handlers->dtor_obj(one);
			OBJ_RELEASE(one);
			count++;
		}
	}
	return count;
}

void spindle_instance_call_destructors(void)
{
	size_t count = 1;

	gc_collect_cycles();
	for (int round = 0; round < MOST_ROUNDS && count; round++) {
		HashTable reached;

		/* What others have lives on, also where it has the number of an object of this one. */
		instances_reach(&reached);
		count = call_destructors(&reached);
		zend_hash_destroy(&reached);
	}
}

void instance_objects_call_destructors(void)
{
	for (int round = 0; round < MOST_ROUNDS && call_destructors(NULL); round++);
}

void instance_objects_leave_behind(void)
{
	note_objects();
	for (uint32_t i = 1; i < objects_before; i++) {
		if (owners[i] == instances_running->number && IS_OBJ_VALID(EG(objects_store).object_buckets[i])) {
			owners[i] = instances_script.number;
		}
	}
}

void spindle_instances_forked(void)
{
	if (!instances_first) {
		return;
	}
	note_objects();
	for (uint32_t i = 1; i < EG(objects_store).top && i < objects_before; i++) {
		zend_object *one = EG(objects_store).object_buckets[i];

		if (IS_OBJ_VALID(one) && owners[i] != instances_script.number && owners[i] != instances_running->number) {
			GC_ADD_FLAGS(one, IS_OBJ_DESTRUCTOR_CALLED);
		}
	}
}

void instance_objects_forget(spindle_instance *one)
{
	if (one->number && one->number < numbers) {
		numbered[one->number] = &instances_script; /* whose objects its are now */
	}
	while (one->free_object != -1) {
		int object = one->free_object;

		one->free_object = GET_OBJ_BUCKET_NUMBER(EG(objects_store).object_buckets[object]);
		ZEND_OBJECTS_STORE_ADD_TO_FREE_LIST(object);
	}
}

void instance_objects_end(void)
{
	free(owners);
	free(numbered);
	owners = NULL;
	numbered = NULL;
	owners_size = numbers = objects_before = 0;
}
