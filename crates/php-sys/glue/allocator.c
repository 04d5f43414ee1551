/* PHP opens extensions with RTLD_DEEPBIND: their malloc() and free() are libc's, also where the process has another allocator
 * (LD_PRELOAD=libjemalloc.so.2). But what the engine, libc and Rust's library give to a caller to free is of that one. */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE
#endif
#include "glue.h"

#ifdef __GLIBC__
# include <dlfcn.h>
# include <errno.h>
# include <link.h>
# include <stdio.h>
# include <sys/mman.h>
# include <unistd.h>

# ifdef __x86_64__
#  define IS_ADDRESS(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
# else
#  define IS_ADDRESS(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
# endif

static const char *const functions[] = {
	"malloc", "calloc", "realloc", "reallocarray", "free", "posix_memalign", "aligned_alloc", "memalign", "malloc_usable_size",
};

/* What the loader knows of this module. */
struct module {
	uintptr_t base;
	const ElfW(Sym) *symbols;
	const char *names;
	const ElfW(Rela) *data, *calls;
	size_t size_of_data, size_of_calls;
	/* Where it has written addresses that are read-only since: whole pages. */
	uintptr_t sealed;
	size_t size_of_sealed;
};

/* Some calls bound and others not would free what the other allocator has made: all of them are, or none goes on. */
static void protect(const struct module *module, int how)
{
	if (module->size_of_sealed != 0 && mprotect((void *) module->sealed, module->size_of_sealed, how) != 0) {
		fprintf(stderr, "spindle: cannot take the allocator of this process: %s\n", strerror(errno));
		_exit(255);
	}
}

static void rebind(const struct module *module, const ElfW(Rela) *entries, size_t size, void *process)
{
	for (const ElfW(Rela) *entry = entries; entry < entries + size / sizeof *entries; entry++) {
		const ElfW(Sym) *symbol = &module->symbols[ELF64_R_SYM(entry->r_info)];
		if (!IS_ADDRESS(ELF64_R_TYPE(entry->r_info)) || symbol->st_shndx != SHN_UNDEF || entry->r_addend != 0) {
			continue;
		}
		for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
			void *found = strcmp(module->names + symbol->st_name, functions[i]) == 0 ? dlsym(process, functions[i]) : NULL;
			if (found) {
				*(uintptr_t *) (module->base + entry->r_offset) = (uintptr_t) found;
			}
		}
	}
}

static int rebind_own(struct dl_phdr_info *object, size_t size, void *process)
{
	struct module module = {.base = object->dlpi_addr};
	uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
	bool is_own = false;

	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t start = module.base + segment->p_vaddr;
		if (segment->p_type == PT_DYNAMIC) {
			is_own = start == (uintptr_t) _DYNAMIC;
		} else if (segment->p_type == PT_GNU_RELRO) {
			module.sealed = start & -page;
			module.size_of_sealed = ((start + segment->p_memsz) & -page) - module.sealed;
		}
	}
	if (!is_own) {
		return 0;
	}
	for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
			case DT_SYMTAB: module.symbols = (const ElfW(Sym) *) entry->d_un.d_ptr; break;
			case DT_STRTAB: module.names = (const char *) entry->d_un.d_ptr; break;
			case DT_RELA: module.data = (const ElfW(Rela) *) entry->d_un.d_ptr; break;
			case DT_RELASZ: module.size_of_data = entry->d_un.d_val; break;
			case DT_JMPREL: module.calls = (const ElfW(Rela) *) entry->d_un.d_ptr; break;
			case DT_PLTRELSZ: module.size_of_calls = entry->d_un.d_val; break;
		}
	}
	protect(&module, PROT_READ | PROT_WRITE);
	rebind(&module, module.data, module.size_of_data, process);
	rebind(&module, module.calls, module.size_of_calls, process);
	protect(&module, PROT_READ);
	return 1;
}

void spindle_take_allocator(void)
{
	void *process = dlopen(NULL, RTLD_LAZY);

	if (!process) {
		return;
	}
	if (dlsym(process, "free") != (void *) free) {
		dl_iterate_phdr(rebind_own, process);
	}
	dlclose(process);
}
#else
/* Other loaders have no such scope. */
void spindle_take_allocator(void) {}
#endif
