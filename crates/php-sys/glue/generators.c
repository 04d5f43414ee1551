/* Generators: their state, and what their methods do. */
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

bool spindle_generator_is_running(zend_object *object)
{
	zend_generator *generator = (zend_generator *) object;
	return ((generator->flags | innermost(generator)->flags) & ZEND_GENERATOR_CURRENTLY_RUNNING) != 0;
}

/* Returns the state of a generator after a step, and stores the value that it has yielded or returned. */
static spindle_generator_state state(zend_generator *generator, zval *result)
{
	zval *value;
	spindle_generator_state state;

	if (UNEXPECTED(EG(exception))) {
		return SPINDLE_GENERATOR_ENDED;
	}
	if (EXPECTED(generator->execute_data)) {
		value = &zend_generator_get_current(generator)->value;
		state = SPINDLE_GENERATOR_YIELDED;
	} else {
		value = &generator->retval;
		state = SPINDLE_GENERATOR_RETURNED;
	}
	if (UNEXPECTED(Z_TYPE_P(value) == IS_UNDEF)) {
		return generator->execute_data ? state : SPINDLE_GENERATOR_ENDED;
	}
	ZVAL_COPY_DEREF(result, value);
	return state;
}

/* Does what Generator::current() and Generator::send() do, without a call, which would take as long as a short step of the
 * generator. In a trace, the frame that runs now is the caller of the generator's frame. Signals are served where its code, or
 * other code, begins to run. */
spindle_generator_state spindle_generator_resume(zend_object *object, zval *value, zval *result)
{
	zend_generator *generator = (zend_generator *) object;

	if (UNEXPECTED(spindle_generator_is_running(object))) {
		return SPINDLE_GENERATOR_RUNNING;
	}
	if (UNEXPECTED(EG(exception)) || !generator->execute_data) {
		return state(generator, result);
	}
	if (Z_TYPE_P(value) == IS_UNDEF) {
		if (Z_TYPE(generator->value) == IS_UNDEF && !generator->node.parent) {
			zend_generator_resume(generator);
			generator->flags |= ZEND_GENERATOR_AT_FIRST_YIELD;
		}
	} else {
		zend_generator *current = zend_generator_get_current(generator);
		if (current->send_target && !(current->flags & ZEND_GENERATOR_CURRENTLY_RUNNING)) {
			ZVAL_COPY(current->send_target, value);
		}
		zend_generator_resume(generator);
	}
	return state(generator, result);
}

spindle_generator_state spindle_generator_throw(zend_object *object, zend_object *exception, zval *result)
{
	static zend_function *method;
	zval argument;

	if (UNEXPECTED(spindle_generator_is_running(object))) {
		return SPINDLE_GENERATOR_RUNNING;
	}
	if (!method) {
		method = zend_hash_str_find_ptr(&zend_ce_generator->function_table, ZEND_STRL("throw"));
	}
	ZVAL_OBJ(&argument, exception);
	zend_call_known_function(method, object, object->ce, result, 1, &argument, NULL);
	if (EXPECTED(!EG(exception)) && ((zend_generator *) object)->execute_data) {
		return SPINDLE_GENERATOR_YIELDED;
	}
	zval_ptr_dtor(result);
	ZVAL_NULL(result);
	return state((zend_generator *) object, result);
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
 * by an exception, before it has recorded where to continue. Otherwise the position of code that is called meanwhile stays. */
void spindle_enter_frame(void)
{
	zend_execute_data *frame = EG(current_execute_data);

	if (EG(exception) && frame && frame->func && ZEND_USER_CODE(frame->func->type)
		&& frame->opline->opcode != ZEND_HANDLE_EXCEPTION) {
		EG(opline_before_exception) = frame->opline;
		frame->opline = EG(exception_op);
	}
}

/* A throw makes the innermost frame of PHP code handle the exception, by replacing its instruction. The code that takes the
 * exception restores the instruction. */
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
