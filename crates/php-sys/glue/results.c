/*
 * Handlers of objects that stand for a result: coroutines, futures and tasks.
 *
 * Code that uses such an object in place of its result has forgotten to await it. Where PHP throws in any case, for arithmetic and
 * for the conversion to a string, the message says so. Where PHP goes on with nothing, in foreach and json_encode(), there is a
 * warning with async.diagnostics: not in place, where an error handler may free the object or change the variable with which the
 * engine is about to go on. Whatever else is done with the object is what PHP does with all objects.
 */
#include "glue.h"

static const char *type_of(const zval *value)
{
	return Z_TYPE_P(value) == IS_OBJECT ? ZSTR_VAL(Z_OBJCE_P(value)->name) : zend_zval_type_name(value);
}

/* Returns the operator of arithmetic, NULL for another one. */
static const char *sign_of(uint8_t opcode)
{
	switch (opcode) {
		case ZEND_ADD: return "+";
		case ZEND_SUB: return "-";
		case ZEND_MUL: return "*";
		case ZEND_DIV: return "/";
		case ZEND_MOD: return "%";
		case ZEND_POW: return "**";
		case ZEND_SL: return "<<";
		case ZEND_SR: return ">>";
		case ZEND_BW_OR: return "|";
		case ZEND_BW_AND: return "&";
		case ZEND_BW_XOR: return "^";
		default: return NULL;
	}
}

static zend_result operate(uint8_t opcode, zval *result, zval *left, zval *right)
{
	const char *sign = sign_of(opcode);
	const zval *own;

	if (!sign) {
		return FAILURE; /* which is not an error: the engine goes on by itself */
	}
	if (!EG(exception)) { /* of an error handler: an operand is an undefined variable, say */
		own = Z_TYPE_P(left) == IS_OBJECT && Z_OBJ_HANDLER_P(left, do_operation) == operate ? left : right;
		zend_type_error("Unsupported operand types: %s %s %s (await the %s to get its result)", type_of(left), sign, type_of(right),
			type_of(own));
	}
	/* Done, with an exception: after a FAILURE the engine would convert the operands, or throw a second one. */
	if (result != left) {
		ZVAL_UNDEF(result);
	}
	return SUCCESS;
}

/* Returns the instruction of user code that runs, or ZEND_NOP in a function of C. */
static uint8_t instruction(void)
{
	const zend_execute_data *frame = EG(current_execute_data);

	return frame && frame->func && ZEND_USER_CODE(frame->func->type) ? frame->opline->opcode : ZEND_NOP;
}

/* Returns true for instructions that convert to strings. Others try whether a value is one, and have their own message. */
static bool converts(uint8_t opcode)
{
	switch (opcode) {
		case ZEND_CONCAT:
		case ZEND_FAST_CONCAT:
		case ZEND_ROPE_INIT:
		case ZEND_ROPE_ADD:
		case ZEND_ROPE_END:
		case ZEND_CAST:
		case ZEND_ECHO:
		case ZEND_ASSIGN_OP:
		case ZEND_ASSIGN_DIM_OP:
		case ZEND_ASSIGN_OBJ_OP:
		case ZEND_ASSIGN_STATIC_PROP_OP:
			return true;
		default:
			return false;
	}
}

static zend_result convert(zend_object *object, zval *result, int type)
{
	if (type == IS_STRING && !EG(exception) && converts(instruction())) {
		zend_throw_error(NULL, "Object of class %s could not be converted to string (await it to get its result)",
			ZSTR_VAL(object->ce->name));
		return FAILURE;
	}
	return zend_std_cast_object_tostring(object, result, type);
}

static HashTable *properties(zend_object *object)
{
	uint8_t opcode = instruction();

	if (spindle_settings.diagnostics && (opcode == ZEND_FE_RESET_R || opcode == ZEND_FE_RESET_RW)) {
		spindle_has_no_elements(object);
	}
	return zend_std_get_properties(object);
}

static HashTable *properties_for(zend_object *object, zend_prop_purpose purpose)
{
	if (spindle_settings.diagnostics && purpose == ZEND_PROP_PURPOSE_JSON) {
		spindle_is_empty_in_json(object);
	}
	return zend_std_get_properties_for(object, purpose);
}

void spindle_stand_for_result(zend_object_handlers *handlers)
{
	handlers->do_operation = operate;
	handlers->cast_object = convert;
	handlers->get_properties = properties;
	handlers->get_properties_for = properties_for;
}
