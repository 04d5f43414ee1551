/*
 * The marks that the engine sets on objects and arrays while it is inside of them, against endless recursion: guards of
 * properties, set around __get() and its like (an access to the same property meanwhile is a plain one); a flag on
 * values that are being dumped, encoded or compared ("*RECURSION*", "Nesting level too deep"); and two on constants.
 *
 * They belong to the flow of control that has set them, so those of a coroutine are removed when it is suspended and
 * set again when it is resumed. The engine does not record who has set a mark. But a mark that is set when a coroutine
 * is suspended was set by it, since those of the others are removed; and guards are set only below frames of accessors,
 * flags only below those of C code that may set them.
 */
#include "php.h"
#include "glue.h"

typedef struct mark {
	uint32_t *guard; /* NULL: the flag of `counted` is in its header */
	uint32_t bits;
	bool is_constant; /* `guard` is the flags of a constant, which have no room for a count */
	zend_refcounted *counted; /* NULL: a guard that no flags are in */
	zend_reference *place; /* the reference that contains it, if it is being changed in place */
} mark;

struct spindle_marks {
	size_t count, room;
	mark list[];
};

/* The lower bits of a guard are the engine's. The bits above count the coroutines whose bits are removed: the engine
 * would reuse a guard that is 0 for another property.
 *
 * Since PHP 8.3 objects with guards have some of their flags there, too: one for each kind of function that sets it,
 * in the guard that is in the object itself. */
#define ONE_IS_OFF 0x100u
#ifdef ZEND_GUARD_PROPERTY_MASK
# define GUARD_BITS ((uint32_t) ZEND_GUARD_PROPERTY_MASK)
# define GUARD_FLAGS ((uint32_t) (ZEND_GUARD_RECURSION_DEBUG | ZEND_GUARD_RECURSION_EXPORT | ZEND_GUARD_RECURSION_JSON))
ZEND_STATIC_ASSERT((GUARD_BITS & GUARD_FLAGS) == 0 && GUARD_BITS + GUARD_FLAGS < ONE_IS_OFF, "bits of the engine's guards");
#else
# define GUARD_BITS 0xfu
# define Z_GUARD_P Z_PROPERTY_GUARD_P
#endif

static bool note(spindle_marks **marks, mark one)
{
	size_t count = *marks ? (*marks)->count : 0;
	if (!*marks || count == (*marks)->room) {
		size_t room = count ? 2 * count : 4;
		spindle_marks *grown = realloc(*marks, sizeof(spindle_marks) + room * sizeof(mark));
		if (!grown) {
			return false; /* the mark stays, as it would without coroutines */
		}
		grown->room = room;
		*marks = grown;
	}
	(*marks)->list[count] = one;
	(*marks)->count = count + 1;
	return true;
}

/* --- guards ---------------------------------------------------------------------------------------------------- */

static bool take_bits(spindle_marks **marks, uint32_t *guard, uint32_t which)
{
	uint32_t bits = *guard & which;
	if (!bits || !note(marks, (mark) {.guard = guard, .bits = bits})) {
		return false;
	}
	*guard = (*guard & ~bits) + ONE_IS_OFF;
	return true;
}

static bool take_guard(spindle_marks **marks, uint32_t *guard)
{
	return take_bits(marks, guard, GUARD_BITS);
}

static uint32_t *guard_of(void *value)
{
	return (uint32_t *) ((uintptr_t) value & ~(uintptr_t) 1); /* the lowest bit says that it is in the object itself */
}

/* Takes the guard of the property that the accessor was called for. The object's guards are stored as by
 * zend_get_property_guard(): one in place, or several by name. If the accessor's argument has been changed since,
 * all guards that are set are taken. Others may belong to a suspended fiber. */
static void take_guards(spindle_marks **marks, zend_execute_data *frame)
{
	zend_object *object = Z_OBJ(frame->This);
	zval *guards = object->properties_table + object->ce->default_properties_count;
	if (Z_TYPE_P(guards) == IS_STRING) {
		take_guard(marks, &Z_GUARD_P(guards));
	} else if (Z_TYPE_P(guards) == IS_ARRAY) {
		zval *name = ZEND_CALL_ARG(frame, 1);
		void *guard = Z_TYPE_P(name) == IS_STRING ? zend_hash_find_ptr(Z_ARRVAL_P(guards), Z_STR_P(name)) : NULL;
		if (guard && take_guard(marks, guard_of(guard))) {
			return;
		}
		ZEND_HASH_FOREACH_PTR(Z_ARRVAL_P(guards), guard) {
			take_guard(marks, guard_of(guard));
		} ZEND_HASH_FOREACH_END();
	}
}

static bool is_accessor(const zend_execute_data *frame)
{
	const zend_class_entry *class = Z_OBJCE(frame->This);
	const zend_function *function = frame->func;
	return (class->ce_flags & ZEND_ACC_USE_GUARDS)
		&& (function == class->__get || function == class->__set || function == class->__isset || function == class->__unset);
}

/* --- flags ----------------------------------------------------------------------------------------------------- */

static bool is_flagged(zval *value)
{
	return (Z_TYPE_P(value) == IS_ARRAY || Z_TYPE_P(value) == IS_OBJECT)
		&& (GC_FLAGS(Z_COUNTED_P(value)) & GC_PROTECTED) && !(GC_FLAGS(Z_COUNTED_P(value)) & GC_IMMUTABLE);
}

/* Takes a flag. The additional reference makes other code write to a copy of an array, so that this one does not
 * change while C code iterates over it. */
static void take_flag(spindle_marks **marks, zend_refcounted *counted)
{
	if (note(marks, (mark) {.counted = counted})) {
		GC_DEL_FLAGS(counted, GC_PROTECTED);
		GC_ADDREF(counted);
	}
}

/* Takes the flag of an array that C code changes in place, for which changes by others are allowed: they have to
 * find the same array, if it is still there. */
static void take_flag_in_place(spindle_marks **marks, zend_reference *place)
{
	zend_refcounted *counted = Z_COUNTED(place->val);
	if (note(marks, (mark) {.counted = counted, .place = place})) {
		GC_DEL_FLAGS(counted, GC_PROTECTED);
		GC_ADDREF(place);
	}
}

static void take_flag_of(spindle_marks **marks, zval *value, bool in_place)
{
	if (Z_TYPE_P(value) == IS_INDIRECT) {
		value = Z_INDIRECT_P(value);
	}
	if (in_place) {
		if (Z_ISREF_P(value) && is_flagged(Z_REFVAL_P(value))) {
			take_flag_in_place(marks, Z_REF_P(value));
		}
		return;
	}
	ZVAL_DEREF(value);
	if (is_flagged(value)) {
		take_flag(marks, Z_COUNTED_P(value));
	}
}

static void take_flags_in(spindle_marks **marks, HashTable *table, bool in_place)
{
	zval *value;
	ZEND_HASH_FOREACH_VAL(table, value) {
		take_flag_of(marks, value, in_place);
	} ZEND_HASH_FOREACH_END();
}

/* Takes the flags of an operand of C code, and of its elements, which may be flagged when the operand is not. If it
 * is a reference, the code may change it. */
static void take_flags_of_operand(spindle_marks **marks, zval *value)
{
	bool in_place = Z_ISREF_P(value);
	take_flag_of(marks, value, in_place);
	ZVAL_DEREF(value);
	if (Z_TYPE_P(value) == IS_ARRAY) {
		take_flags_in(marks, Z_ARRVAL_P(value), in_place);
	}
}

#ifdef GUARD_FLAGS
static void take_flags_in_guard(spindle_marks **marks, zend_object *object)
{
	uint32_t *guard = zend_get_recursion_guard(object);
	if (guard && take_bits(marks, guard, GUARD_FLAGS)) {
		(*marks)->list[(*marks)->count - 1].counted = (zend_refcounted *) object;
		GC_ADDREF(object);
	}
}
#endif

static void take_flags_in_properties(spindle_marks **marks, zend_object *object)
{
	for (int index = 0; index < object->ce->default_properties_count; index++) {
		take_flag_of(marks, &object->properties_table[index], false);
	}
	if (object->properties) {
		take_flags_in(marks, object->properties, false);
	}
}

/* Takes all flags: the coroutine is inside of each flagged array and object that can be reached from one of the
 * operands. It may have got to objects through results of methods, so all existing objects are checked. Serializing
 * flags the arrays in an object, and not the object. */
static void take_flags(spindle_marks **marks)
{
	for (uint32_t index = 1; index < EG(objects_store).top; index++) {
		zend_object *object = EG(objects_store).object_buckets[index];
		/* One that is being freed, while a destructor in it runs, may have properties that are freed already. */
		if (IS_OBJ_VALID(object) && !(OBJ_FLAGS(object) & IS_OBJ_FREE_CALLED)) {
			if (GC_FLAGS(object) & GC_PROTECTED) {
				take_flag(marks, (zend_refcounted *) object);
			}
#ifdef GUARD_FLAGS
			take_flags_in_guard(marks, object);
#endif
			if (object->properties && (GC_FLAGS(object->properties) & (GC_PROTECTED | GC_IMMUTABLE)) == GC_PROTECTED) {
				take_flag(marks, (zend_refcounted *) object->properties);
			}
			take_flags_in_properties(marks, object);
		}
	}
	for (size_t done = 0; *marks && done < (*marks)->count; done++) {
		zend_refcounted *counted = (*marks)->list[done].counted;
		if (counted && GC_TYPE(counted) == IS_ARRAY) { /* no guard, and no object, whose properties have been checked */
			take_flags_in(marks, (HashTable *) counted, (*marks)->list[done].place != NULL);
		}
	}
}

static bool compares(const zend_op *opline)
{
	switch (opline->opcode) {
		case ZEND_IS_EQUAL:
		case ZEND_IS_NOT_EQUAL:
		case ZEND_IS_SMALLER:
		case ZEND_IS_SMALLER_OR_EQUAL:
		case ZEND_SPACESHIP:
		case ZEND_CASE:
#ifdef ZEND_FRAMELESS_ICALL_1
		/* A function that is called without a frame of its own: in_array(), for example. */
		case ZEND_FRAMELESS_ICALL_1:
		case ZEND_FRAMELESS_ICALL_2:
		case ZEND_FRAMELESS_ICALL_3:
#endif
			return true;
		default:
			return false;
	}
}

/* Literals, too, are arrays that several coroutines compare. */
static void take_flags_of_op(spindle_marks **marks, zend_execute_data *frame, const zend_op *opline, uint8_t type, znode_op op)
{
	if (type & (IS_TMP_VAR | IS_VAR | IS_CV)) {
		take_flags_of_operand(marks, ZEND_CALL_VAR(frame, op.var));
	} else if (type == IS_CONST) {
		take_flags_of_operand(marks, RT_CONSTANT(opline, op));
	}
}

static void take_flags_of_comparison(spindle_marks **marks, zend_execute_data *frame)
{
	const zend_op *opline = frame->opline;
	take_flags_of_op(marks, frame, opline, opline->op1_type, opline->op1);
	take_flags_of_op(marks, frame, opline, opline->op2_type, opline->op2);
#ifdef ZEND_FRAMELESS_ICALL_3
	if (opline->opcode == ZEND_FRAMELESS_ICALL_3) {
		take_flags_of_op(marks, frame, opline + 1, opline[1].op1_type, opline[1].op1);
	}
#endif
}

static zend_always_inline bool may_set_flags(const zend_function *function, bool is_innermost)
{
	/* Functions that the engine creates for a single call, as for Closure::__invoke(), have an undefined value in
	 * the slot. */
	const spindle_call_info *info = (function->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE) ? NULL
		: function->internal_function.reserved[spindle_reserved_slot];
	switch (info ? info->flags : SPINDLE_FLAGS_ALWAYS) {
		case SPINDLE_FLAGS_NEVER:
			return false;
		case SPINDLE_FLAGS_AROUND_CALLBACKS:
			return !is_innermost;
		default: /* the bottom of a fiber has no name, that of a coroutine an empty one */
			return function->common.function_name && ZSTR_LEN(function->common.function_name) != 0;
	}
}

/* --- constants -------------------------------------------------------------------------------------------------- */

/* Private to zend_constants.c. */
#define IS_BEING_EVALUATED 0x80

static bool is_being_evaluated(const zval *value)
{
	return Z_TYPE_P(value) == IS_CONSTANT_AST && (Z_CONSTANT_FLAGS_P(value) & IS_BEING_EVALUATED);
}

/* Removes the flag of class constants whose evaluation loads another class: for other coroutines that need such a
 * constant, the engine would report that it refers to itself. They evaluate it, too, to the same value; but not a
 * case of an enumeration, which is one object. A constant that does refer to itself is detected when the class has
 * been loaded, so the flag is not set again. */
void spindle_marks_remove_constants(void)
{
	zend_class_entry *class;
	ZEND_HASH_FOREACH_PTR(EG(class_table), class) {
		if (class->type != ZEND_USER_CLASS || (class->ce_flags & ZEND_ACC_CONSTANTS_UPDATED)) {
			continue;
		}
		zend_class_constant *constant;
		ZEND_HASH_FOREACH_PTR(CE_CONSTANTS_TABLE(class), constant) {
			if (is_being_evaluated(&constant->value) && !(ZEND_CLASS_CONST_FLAGS(constant) & ZEND_CLASS_CONST_IS_CASE)) {
				Z_CONSTANT_FLAGS(constant->value) &= ~IS_BEING_EVALUATED;
			}
		} ZEND_HASH_FOREACH_END();
	} ZEND_HASH_FOREACH_END();
}

#ifdef CONST_RECURSIVE
/* Returns true for the frame of an error handler to which a deprecation is reported: meanwhile the engine marks the
 * deprecated constant, and does not report it again. If the handler has changed its first argument, the mark stays. */
static zend_always_inline bool hears_of_deprecation(const zend_execute_data *frame)
{
	if (EXPECTED(!(ZEND_CALL_INFO(frame) & ZEND_CALL_TOP)) || ZEND_CALL_NUM_ARGS(frame) != 4) {
		return false;
	}
	if (!frame->func || !ZEND_USER_CODE(frame->func->type) || frame->func->common.num_args == 0) {
		return true; /* where the first argument is depends on the function */
	}
	const zval *level = ZEND_CALL_ARG(frame, 1);
	return Z_TYPE_P(level) != IS_LONG || (Z_LVAL_P(level) & (E_DEPRECATED | E_USER_DEPRECATED));
}

static void take_constant(spindle_marks **marks, zval *value)
{
	uint32_t *flags = &Z_CONSTANT_FLAGS_P(value);
	if ((*flags & CONST_RECURSIVE) && note(marks, (mark) {.guard = flags, .bits = CONST_RECURSIVE, .is_constant = true})) {
		*flags &= ~CONST_RECURSIVE;
	}
}

static void take_constants(spindle_marks **marks)
{
	zend_class_entry *class;
	zend_class_constant *of_class;
	zend_constant *constant;
	ZEND_HASH_FOREACH_PTR(EG(class_table), class) {
		ZEND_HASH_FOREACH_PTR(CE_CONSTANTS_TABLE(class), of_class) {
			if (ZEND_CLASS_CONST_FLAGS(of_class) & ZEND_ACC_DEPRECATED) {
				take_constant(marks, &of_class->value);
			}
		} ZEND_HASH_FOREACH_END();
	} ZEND_HASH_FOREACH_END();
	ZEND_HASH_FOREACH_PTR(EG(zend_constants), constant) {
		if (ZEND_CONSTANT_FLAGS(constant) & CONST_DEPRECATED) {
			take_constant(marks, &constant->value);
		}
	} ZEND_HASH_FOREACH_END();
}
#else
# define hears_of_deprecation(frame) false
# define take_constants(marks)
#endif

/* --- all of them ----------------------------------------------------------------------------------------------- */

typedef enum below {NOTHING, GUARDS, FLAGS, FLAGS_OF_A_COMPARISON} below;

/* Returns the kind of marks that may have been set for a frame. `above` is the frame above it, if there is one. */
static zend_always_inline below set_below(const zend_execute_data *frame, const zend_execute_data *above)
{
	if (!frame->func) {
		return NOTHING;
	}
	if (Z_TYPE(frame->This) == IS_OBJECT && UNEXPECTED(is_accessor(frame))) {
		return GUARDS;
	}
	if (!ZEND_USER_CODE(frame->func->type)) {
		return UNEXPECTED(may_set_flags(frame->func, !above)) ? FLAGS : NOTHING;
	}
	return UNEXPECTED(above && (ZEND_CALL_INFO(above) & ZEND_CALL_TOP)) && compares(frame->opline) ? FLAGS_OF_A_COMPARISON : NOTHING;
}

static zend_never_inline ZEND_COLD void take_all(spindle_marks **marks)
{
	bool has_flags = false, has_constants = false;
	const zend_execute_data *above = NULL;
	for (zend_execute_data *frame = EG(current_execute_data); frame; frame = frame->prev_execute_data) {
		below what = set_below(frame, above);
		if (what == GUARDS) {
			take_guards(marks, frame);
		} else if (what == FLAGS) {
			for (uint32_t index = 1; index <= ZEND_CALL_NUM_ARGS(frame); index++) {
				take_flags_of_operand(marks, ZEND_CALL_ARG(frame, index));
			}
		} else if (what == FLAGS_OF_A_COMPARISON) {
			take_flags_of_comparison(marks, frame);
		}
		has_flags |= what == FLAGS || what == FLAGS_OF_A_COMPARISON;
		has_constants |= hears_of_deprecation(frame);
		above = frame;
	}
	if (has_flags) {
		take_flags(marks);
	}
	if (has_constants) {
		take_constants(marks);
	}
}

void spindle_marks_remove(spindle_marks **marks)
{
	zend_execute_data *frame = EG(current_execute_data);
	const zend_execute_data *above = NULL;
	for (; frame; frame = frame->prev_execute_data) {
		if (UNEXPECTED(set_below(frame, above) != NOTHING || hears_of_deprecation(frame))) {
			take_all(marks);
			return;
		}
		above = frame;
		if ((ZEND_CALL_INFO(frame) & (SPINDLE_HAS_NO_MARKS | ZEND_CALL_GENERATOR)) == SPINDLE_HAS_NO_MARKS) {
			break;
		}
	}
	if (EG(active_fiber)) {
		return;
	}
	for (zend_execute_data *new = EG(current_execute_data); new && new != frame; new = new->prev_execute_data) {
		ZEND_CALL_INFO(new) |= SPINDLE_HAS_NO_MARKS;
	}
}

/* Drops a reference, but not the last one, because nothing may be destroyed during a switch: such values stay until
 * the request ends. */
static void drop(zend_refcounted *counted)
{
	if (GC_REFCOUNT(counted) > 1) {
		GC_DELREF(counted);
	}
}

void spindle_marks_restore(spindle_marks **marks)
{
	for (size_t index = (*marks)->count; index-- > 0;) {
		mark one = (*marks)->list[index];
		if (one.is_constant) {
			*one.guard |= one.bits;
		} else if (one.guard) {
			*one.guard = (*one.guard - ONE_IS_OFF) | one.bits;
			if (one.counted) {
				drop(one.counted);
			}
		} else if (one.place) {
			if (Z_TYPE(one.place->val) == IS_ARRAY && Z_COUNTED(one.place->val) == one.counted) {
				GC_ADD_FLAGS(one.counted, GC_PROTECTED);
			}
			drop((zend_refcounted *) one.place);
		} else {
			GC_ADD_FLAGS(one.counted, GC_PROTECTED);
			drop(one.counted);
		}
	}
	spindle_marks_forget(marks);
}

void spindle_marks_forget(spindle_marks **marks)
{
	free(*marks);
	*marks = NULL;
}
