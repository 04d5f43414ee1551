/* Generators: their state, and their methods without a call by name. */
#include "php.h"
#include "zend_generators.h"
#include "zend_interfaces.h"
#include "glue.h"

/* Returns the generator whose code runs when this one is resumed: the last one of a chain of `yield from`. Unlike
 * zend_generator_get_current() it changes nothing. */
static zend_generator *innermost(zend_generator *generator)
{
	while (generator->node.parent) {
		generator = generator->node.parent;
	}
	return generator;
}

bool spindle_generator_is_finished(zend_object *object)
{
	return ((zend_generator *) object)->execute_data == NULL;
}

bool spindle_generator_is_running(zend_object *object)
{
	zend_generator *generator = (zend_generator *) object;
	return ((generator->flags | innermost(generator)->flags) & ZEND_GENERATOR_CURRENTLY_RUNNING) != 0;
}

/* Calls a method of a class of the engine, which is found once. */
static void call(zend_function **method, const char *name, zend_object *object, zval *argument, zval *result)
{
	if (!*method) {
		*method = zend_hash_str_find_ptr(&zend_ce_generator->function_table, name, strlen(name));
	}
	zend_call_known_function(*method, object, object->ce, result, argument ? 1 : 0, argument, NULL);
}

void spindle_generator_current(zend_object *object, zval *result)
{
	static zend_function *method;
	call(&method, "current", object, NULL, result);
}

void spindle_generator_send(zend_object *object, zval *value, zval *result)
{
	static zend_function *method;
	call(&method, "send", object, value, result);
}

void spindle_generator_throw(zend_object *object, zend_object *exception, zval *result)
{
	static zend_function *method;
	zval argument;

	ZVAL_OBJ(&argument, exception);
	call(&method, "throw", object, &argument, result);
}

/* Stores what a generator has returned, or leaves the place undefined if it has not returned. */
void spindle_generator_returned(zend_object *object, zval *result)
{
	ZVAL_COPY_DEREF(result, &((zend_generator *) object)->retval);
}

/* Ends a generator as when its last reference is dropped: its finally blocks run. It must not be running. */
void spindle_generator_end(zend_object *object)
{
	object->handlers->dtor_obj(object);
}

bool spindle_is_generator(zend_object *object)
{
	return object->ce == zend_ce_generator;
}

/* Makes the innermost frame handle the exception in flight, if it is PHP code: that frees values when it leaves a function
 * by an exception, before it has noted where to go on. Otherwise the position of code that is called meanwhile stays. */
void spindle_enter_frame(void)
{
	zend_execute_data *frame = EG(current_execute_data);

	if (EG(exception) && frame && frame->func && ZEND_USER_CODE(frame->func->type)
		&& frame->opline->opcode != ZEND_HANDLE_EXCEPTION) {
		EG(opline_before_exception) = frame->opline;
		frame->opline = EG(exception_op);
	}
}

/* A throw makes the innermost frame of PHP code handle the exception, by replacing its instruction. Who takes that exception
 * restores the instruction. */
void spindle_position_save(spindle_position *position)
{
	zend_execute_data *frame = EG(current_execute_data);

	spindle_enter_frame();
	position->frame = frame && frame->func && ZEND_USER_CODE(frame->func->type) ? frame : NULL;
	if (EG(exception)) {
		position->opline = EG(opline_before_exception);
	} else {
		position->opline = position->frame ? frame->opline : NULL;
	}
}

void spindle_position_restore(const spindle_position *position)
{
	if (!EG(exception)) {
		if (position->frame) {
			position->frame->opline = position->opline;
		}
		return;
	}
	if (position->opline) {
		EG(opline_before_exception) = position->opline;
	}
	if (position->frame) {
		position->frame->opline = EG(exception_op);
	}
}
