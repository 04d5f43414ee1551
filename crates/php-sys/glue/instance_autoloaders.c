/* Autoloaders that code of an instance registers are its own: they are objects of it, and closures, which no other one may call. Those
 * of the process are called, too, between its own that come first and the rest, until it unregisters one of them: then it has a list
 * without that for itself. */
#include "instances.h"

#include "zend_closures.h"

enum { REGISTER, UNREGISTER, FUNCTIONS, REPLACED };
static const char *const replaced_names[REPLACED] = {
	[REGISTER] = "spl_autoload_register",
	[UNREGISTER] = "spl_autoload_unregister",
	[FUNCTIONS] = "spl_autoload_functions",
};
/* They stay known: compiled code may call what has replaced them once more. */
static zif_handler replaced[REPLACED];
static bool is_replaced;

/* In the lists of instances an autoloader is an array of what was registered and what is called. */
enum { REGISTERED, CALLED };

static void add_all(zend_array *to, const zval *from, bool of_instance)
{
	zval *one;

	if (Z_TYPE_P(from) == IS_ARRAY) {
		ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(from), one) {
			if (of_instance) {
				one = zend_hash_index_find(Z_ARRVAL_P(one), REGISTERED);
			}
			Z_TRY_ADDREF_P(one);
			zend_hash_next_index_insert(to, one);
		} ZEND_HASH_FOREACH_END();
	}
}

/* Returns what the lists of the running instance have for an autoloader; NULL if that is none of its own. */
static zval *own_entry(zval *autoloader)
{
	zval *one;

	for (int i = 0; i < 2; i++) {
		if (Z_TYPE(instances_running->autoloaders[i]) == IS_ARRAY) {
			ZEND_HASH_FOREACH_VAL(Z_ARRVAL(instances_running->autoloaders[i]), one) {
				if (zend_is_identical(zend_hash_index_find(Z_ARRVAL_P(one), REGISTERED), autoloader)) {
					return one;
				}
			} ZEND_HASH_FOREACH_END();
		}
	}
	return NULL;
}

static ZEND_NAMED_FUNCTION(register_autoloader)
{
	zend_fcall_info fci;
	zend_fcall_info_cache fcc;
	bool throws, is_first = false;

	if (instances_running == &instances_script || ZEND_NUM_ARGS() == 0 || Z_TYPE_P(ZEND_CALL_ARG(execute_data, 1)) == IS_NULL) {
		replaced[REGISTER](INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_FUNC(fci, fcc)
		Z_PARAM_OPTIONAL
		Z_PARAM_BOOL(throws)
		Z_PARAM_BOOL(is_first)
	ZEND_PARSE_PARAMETERS_END();
	zval *list = &instances_running->autoloaders[is_first || instances_running->has_all_autoloaders ? 0 : 1], before, added, called;
	if (own_entry(&fci.function_name)) {
		zend_release_fcall_info_cache(&fcc);
		RETURN_TRUE;
	}
	/* As it can be called here: a private method may not be found from elsewhere. */
	if (Z_TYPE(fci.function_name) == IS_OBJECT || (fcc.function_handler->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE)) {
		ZVAL_COPY(&called, &fci.function_name);
	} else {
		zval object;

		ZVAL_UNDEF(&object);
		if (fcc.object) {
			ZVAL_OBJ(&object, fcc.object);
		}
		zend_create_fake_closure(&called, fcc.function_handler, fcc.function_handler->common.scope, fcc.called_scope, fcc.object ? &object : NULL);
	}
	zend_release_fcall_info_cache(&fcc);
	array_init(&added);
	Z_TRY_ADDREF(fci.function_name);
	zend_hash_index_add_new(Z_ARRVAL(added), REGISTERED, &fci.function_name);
	zend_hash_index_add_new(Z_ARRVAL(added), CALLED, &called);
	ZVAL_COPY_VALUE(&before, list);
	array_init(list);
	if (!is_first) {
		add_all(Z_ARRVAL_P(list), &before, false);
	}
	zend_hash_next_index_insert(Z_ARRVAL_P(list), &added);
	if (is_first) {
		add_all(Z_ARRVAL_P(list), &before, false);
	}
	zval_ptr_dtor(&before);
	RETURN_TRUE;
}

/* Gives the running instance a list of its own: all that are called for it, but one of the process. Returns false, and has done
 * nothing, if that is none of them. */
static bool leave_out(zval *unwanted)
{
	zval of_process, all, *one;
	bool is_one = false;

	ZVAL_UNDEF(&of_process);
	zend_function *functions = zend_hash_str_find_ptr(CG(function_table), ZEND_STRL("spl_autoload_functions"));
	zend_call_known_function(functions, NULL, NULL, &of_process, 0, NULL, NULL);
	if (Z_TYPE(of_process) != IS_ARRAY) {
		zval_ptr_dtor(&of_process);
		return false;
	}
	ZEND_HASH_FOREACH_VAL(Z_ARRVAL(of_process), one) {
		is_one = is_one || zend_is_identical(one, unwanted);
	} ZEND_HASH_FOREACH_END();
	if (is_one) {
		array_init(&all);
		ZEND_HASH_FOREACH_VAL(Z_ARRVAL(of_process), one) {
			zval *own = own_entry(one), added;

			if (own) {
				Z_ADDREF_P(own);
				zend_hash_next_index_insert(Z_ARRVAL(all), own);
			} else if (!zend_is_identical(one, unwanted)) {
				array_init(&added);
				Z_TRY_ADDREF_P(one);
				zend_hash_index_add_new(Z_ARRVAL(added), REGISTERED, one);
				Z_TRY_ADDREF_P(one);
				zend_hash_index_add_new(Z_ARRVAL(added), CALLED, one);
				zend_hash_next_index_insert(Z_ARRVAL(all), &added);
			}
		} ZEND_HASH_FOREACH_END();
		for (int i = 0; i < 2; i++) {
			zval before;

			ZVAL_COPY_VALUE(&before, &instances_running->autoloaders[i]);
			ZVAL_UNDEF(&instances_running->autoloaders[i]);
			zval_ptr_dtor(&before);
		}
		ZVAL_COPY_VALUE(&instances_running->autoloaders[0], &all);
		instances_running->has_all_autoloaders = true;
	}
	zval_ptr_dtor(&of_process);
	return is_one;
}

static ZEND_NAMED_FUNCTION(unregister_autoloader)
{
	zval *one;
	zend_ulong index;

	for (int i = 0; instances_running != &instances_script && ZEND_NUM_ARGS() == 1 && i < 2; i++) {
		zval *list = &instances_running->autoloaders[i];

		if (Z_TYPE_P(list) != IS_ARRAY) {
			continue;
		}
		SEPARATE_ARRAY(list);
		ZEND_HASH_FOREACH_NUM_KEY_VAL(Z_ARRVAL_P(list), index, one) {
			if (zend_is_identical(zend_hash_index_find(Z_ARRVAL_P(one), REGISTERED), ZEND_CALL_ARG(execute_data, 1))) {
				zend_hash_index_del(Z_ARRVAL_P(list), index);
				RETURN_TRUE;
			}
		} ZEND_HASH_FOREACH_END();
	}
	if (instances_running != &instances_script && ZEND_NUM_ARGS() == 1) {
		RETURN_BOOL(!instances_running->has_all_autoloaders && leave_out(ZEND_CALL_ARG(execute_data, 1)));
	}
	replaced[UNREGISTER](INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

static ZEND_NAMED_FUNCTION(list_autoloaders)
{
	zval of_process;

	if (instances_running == &instances_script || ZEND_NUM_ARGS()) {
		replaced[FUNCTIONS](INTERNAL_FUNCTION_PARAM_PASSTHRU);
		return;
	}
	ZVAL_UNDEF(&of_process);
	if (!instances_running->has_all_autoloaders) {
		replaced[FUNCTIONS](execute_data, &of_process);
	}
	array_init(return_value);
	add_all(Z_ARRVAL_P(return_value), &instances_running->autoloaders[0], true);
	add_all(Z_ARRVAL_P(return_value), &of_process, false);
	add_all(Z_ARRVAL_P(return_value), &instances_running->autoloaders[1], true);
	zval_ptr_dtor(&of_process);
}

void instance_autoloaders_begin(void)
{
	static const zif_handler own_functions[REPLACED] = {
		[REGISTER] = register_autoloader, [UNREGISTER] = unregister_autoloader, [FUNCTIONS] = list_autoloaders};

	for (int i = 0; i < REPLACED; i++) {
		zend_function *function = zend_hash_str_find_ptr(CG(function_table), replaced_names[i], strlen(replaced_names[i]));

		if (function && function->type == ZEND_INTERNAL_FUNCTION && !is_replaced) {
			replaced[i] = function->internal_function.handler;
			function->internal_function.handler = own_functions[i];
		}
	}
	is_replaced = true;
}

void instance_autoloaders_end(void)
{
	for (int i = 0; i < REPLACED; i++) {
		zend_function *function = zend_hash_str_find_ptr(CG(function_table), replaced_names[i], strlen(replaced_names[i]));

		if (function && is_replaced) {
			function->internal_function.handler = replaced[i];
		}
	}
	is_replaced = false;
}

bool spindle_instance_has_all_autoloaders(void)
{
	return instances_running->has_all_autoloaders;
}

bool spindle_instance_has_autoloaders(void)
{
	return Z_TYPE(instances_running->autoloaders[0]) == IS_ARRAY || Z_TYPE(instances_running->autoloaders[1]) == IS_ARRAY;
}

zend_class_entry *spindle_instance_autoload(bool is_first, zend_string *name, zend_string *lower)
{
	zend_class_entry *found = NULL;
	zval all, argument, result, *one;

	ZVAL_COPY(&all, &instances_running->autoloaders[is_first ? 0 : 1]);
	if (Z_TYPE(all) != IS_ARRAY) {
		return NULL;
	}
	ZEND_HASH_FOREACH_VAL(Z_ARRVAL(all), one) {
		ZVAL_STR(&argument, name);
		ZVAL_UNDEF(&result);
		call_user_function(NULL, NULL, zend_hash_index_find(Z_ARRVAL_P(one), CALLED), &result, 1, &argument);
		zval_ptr_dtor(&result);
		if (EG(exception) || (found = zend_hash_find_ptr(EG(class_table), lower))) {
			break;
		}
	} ZEND_HASH_FOREACH_END();
	zval_ptr_dtor(&all);
	return found;
}
