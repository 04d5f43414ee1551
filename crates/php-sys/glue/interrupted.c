/* Exceptions that are thrown between two instructions of PHP code, by signal handlers for example. The engine treats the next
 * instruction as one that has begun: it does not free its operands, which the instruction would have done, and it frees what the
 * instruction writes first, which is not there yet. */
#include "glue.h"
#if PHP_VERSION_ID >= 80400
# include "zend_frameless_function.h" /* calls without a frame */
#endif

static bool is_live(const zend_op_array *code, uint32_t at, uint32_t var)
{
	for (int i = 0; i < code->last_live_range && code->live_range[i].start <= at; i++) {
		if ((code->live_range[i].var & ~ZEND_LIVE_MASK) == var && at < code->live_range[i].end) {
			return true;
		}
	}
	return false;
}

/* Returns true for instructions that have a value as their result, and after which the engine may interrupt. */
static bool has_value(const zend_op *instruction)
{
	switch (instruction->opcode) {
	case ZEND_DO_ICALL:
	case ZEND_DO_UCALL:
	case ZEND_DO_FCALL:
	case ZEND_DO_FCALL_BY_NAME:
	case ZEND_INCLUDE_OR_EVAL:
	case ZEND_YIELD:
	case ZEND_YIELD_FROM:
	case ZEND_QM_ASSIGN: /* on one of the ways to where they meet */
		return (instruction->result_type & (IS_TMP_VAR | IS_VAR)) != 0;
	default:
		return false;
	}
}

static bool takes(const zend_op *instruction, uint32_t var)
{
	return ((instruction->op1_type & (IS_TMP_VAR | IS_VAR)) && instruction->op1.var == var)
		|| ((instruction->op2_type & (IS_TMP_VAR | IS_VAR)) && instruction->op2.var == var);
}

static void free_operand(zend_execute_data *frame, const zend_live_range *range, const zend_op *next)
{
	zval *operand = ZEND_CALL_VAR(frame, range->var & ~ZEND_LIVE_MASK);

	switch (range->var & ZEND_LIVE_MASK) {
	case ZEND_LIVE_LOOP:
		if (Z_TYPE_P(operand) != IS_ARRAY && Z_FE_ITER_P(operand) != (uint32_t) -1) {
			zend_hash_iterator_del(Z_FE_ITER_P(operand));
		}
		break;
	case ZEND_LIVE_SILENCE:
		if (E_HAS_ONLY_FATAL_ERRORS(EG(error_reporting)) && !E_HAS_ONLY_FATAL_ERRORS(Z_LVAL_P(operand))) {
			EG(error_reporting) = Z_LVAL_P(operand);
		}
		return;
	case ZEND_LIVE_ROPE: /* the instruction would have added the last piece */
		for (uint32_t i = 0; i < next->extended_value; i++) {
			zend_string_release(((zend_string **) operand)[i]);
		}
		return;
	}
	zval_ptr_dtor_nogc(operand); /* of a new object whose constructor has returned as well */
}

/* Writes what the engine expects to be there of an instruction that has begun. */
static void begin(zend_execute_data *frame, const zend_op *next)
{
	switch (next->opcode) {
	case ZEND_ROPE_INIT:
		*(zend_string **) ZEND_CALL_VAR(frame, next->result.var) = ZSTR_EMPTY_ALLOC();
		break;
	case ZEND_ROPE_ADD:
		((zend_string **) ZEND_CALL_VAR(frame, next->result.var))[next->extended_value] = ZSTR_EMPTY_ALLOC();
		break;
	case ZEND_SEND_VAL:
	case ZEND_SEND_VAL_EX:
	case ZEND_SEND_VAR:
	case ZEND_SEND_VAR_EX:
	case ZEND_SEND_FUNC_ARG:
	case ZEND_SEND_REF:
	case ZEND_SEND_VAR_NO_REF:
	case ZEND_SEND_VAR_NO_REF_EX:
	case ZEND_SEND_USER:
		if (next->op2_type != IS_CONST) { /* else its place is found by its name, and counted then */
			ZVAL_UNDEF(ZEND_CALL_VAR(frame->call, next->result.var));
		}
		break;
	}
}

void spindle_thrown_between(zend_execute_data *frame)
{
	const zend_op *next = EG(opline_before_exception);

	if (!frame->func || !ZEND_USER_CODE(frame->func->type) || frame->opline != EG(exception_op)) {
		return;
	}
	const zend_op_array *code = &frame->func->op_array;
	if (next < code->opcodes || next >= code->opcodes + code->last) {
		return;
	}
#if PHP_VERSION_ID >= 80400
	/* An interrupt of such a call comes when it is over, too; its operands may be freed, and only PHP knows. */
	if (ZEND_OP_IS_FRAMELESS_ICALL(next->opcode)) {
		return;
	}
#endif
	uint32_t at = next - code->opcodes;
	begin(frame, next);
	if (at > 0 && has_value(next - 1) && takes(next, next[-1].result.var) && !is_live(code, at, next[-1].result.var)) {
		zval_ptr_dtor_nogc(ZEND_CALL_VAR(frame, next[-1].result.var));
	}
	for (int i = 0; i < code->last_live_range && code->live_range[i].start < at; i++) {
		/* A new object has another range from when its constructor has returned. */
		if (code->live_range[i].end == at && !is_live(code, at, code->live_range[i].var & ~ZEND_LIVE_MASK)) {
			free_operand(frame, &code->live_range[i], next);
		}
	}
}
