/* What the files of instances share: instances.c (statics and global variables), instance_objects.c (whose an object is),
 * instance_autoloaders.c and instance_extensions.c (what extensions keep). */
#ifndef SPINDLE_INSTANCES_H
#define SPINDLE_INSTANCES_H

#include "glue.h"

/* What libxml_set_external_entity_loader() has set, as ext/libxml has it. */
typedef struct {
#if PHP_VERSION_ID < 80300
	zval callback;
	zend_fcall_info info;
#endif
	zend_fcall_info_cache cache;
} libxml_loader;

/* What extensions have for an instance, while it does not run. Zero: nothing. */
typedef struct {
	php_stream_context *default_context; /* of streams: stream_context_get_default() */
	zval document_context; /* libxml_set_streams_context() */
	libxml_loader loader;
} instance_extensions;

/* What an instance begins with of that. */
typedef struct {
	zval options, document_context;
	libxml_loader loader;
} extensions_seed;

struct spindle_instance {
	/* While it does not run: the engine's CG(map_ptr_real_base), and how many entries it has room for, and has. */
	void **table;
	size_t size, last;
	/* EG(objects_store).free_list_head, and EG(symbol_table). */
	int free_object;
	zend_array globals;
	/* The memory of static properties, by the offsets of their classes, while they are not there: it is used again. Code that another
	 * instance has run, as a generator, may have the addresses still. */
	HashTable statics;
	zval autoloaders[2]; /* those of before and after the process's; undefined: there are none */
	bool has_all_autoloaders; /* the process's are not called, but for those in the first list */
	void **closure_caches; /* as many as there were closures when it was made */
	size_t closure_count;
	/* While it does not run: the request that was left last, whose superglobals lie in the global variables; NULL: those of none do. */
	spindle_sapi *superglobals_of;
	instance_extensions extensions;
	extensions_seed booted; /* what its requests begin with, or others if that is what it is for */
	spindle_instance *seed; /* what it begins with; NULL: it is what others begin with */
	uint16_t number;
	spindle_instance *next;
};

/* That of the script, and the one whose state the engine has. */
extern spindle_instance instances_script, *instances_running;
/* All others, with those that no code runs in, because others begin with them. */
extern spindle_instance *instances_first;

/* Fills a table with the addresses, by eighths, of the arrays and objects that variables of the running instance lead to. */
void instances_reach(HashTable *reached);

/* How often code that runs at the end of an instance may leave something again. */
#define MOST_ROUNDS 8

/* --- instance_objects.c --- */

/* The first instance of the process is about to be made. */
void instance_objects_begin(void);
/* The running instance is about to be left: notes whose the objects are that were made. */
void instance_objects_leave(spindle_instance *from);
/* Another one is entered. */
void instance_objects_enter(const spindle_instance *to);
/* A new one gets its number. */
void instance_objects_add(spindle_instance *);
/* Returns the instance that has made an object. */
spindle_instance *instance_objects_maker(uint32_t handle);
/* The script ends: calls the destructors of all objects of the running instance. */
void instance_objects_call_destructors(void);
/* The running instance has ended: objects that others have of it are the script's, as are the numbers that these leave free. */
void instance_objects_leave_behind(void);
/* A bailout was caught. */
void instance_objects_survive(void);
/* An instance is forgotten: its numbers of free objects are the script's again. */
void instance_objects_forget(spindle_instance *);
/* All are. */
void instance_objects_end(void);

/* --- instance_extensions.c --- */

/* The first instance of the process is about to be made. */
void instance_extensions_begin(void);
/* The running instance is left for another one. */
void instance_extensions_switch(instance_extensions *from, const instance_extensions *to);
/* Notes what is there now: instances begin with what the script has, and requests with what the boot of their instance has left. And lets
 * the running one begin with it. */
void instance_extensions_note(extensions_seed *);
void instance_extensions_start(const extensions_seed *);
/* A request of the running instance ends: what it has changed is as before. May run PHP code. */
void instance_extensions_restore(spindle_instance *);
/* Releases what the running one has. May run PHP code. */
void instance_extensions_stop(void);
void instance_extensions_forget(extensions_seed *);

/* --- instance_autoloaders.c --- */

/* From now on code of instances registers autoloaders for these alone; and no longer. */
void instance_autoloaders_begin(void);
void instance_autoloaders_end(void);

#endif
