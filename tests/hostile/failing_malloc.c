// failing_malloc.c -- preloaded: lets allocations of a program fail, as if there were no memory.
//
//   FAIL_AT=N      the N-th allocation after the start of main() fails; without it none
//   FAIL_FROM=1    and all after it
//   FAIL_OWN=1     only allocations by Linkwork itself fail, the N-th of them
//   FAIL_ABOVE=N   allocations fail that would make the program hold more than N bytes from main() on
//   FAIL_COUNT=F   at the end these are written to the file F: numbers of allocations, of all and of those by Linkwork
//                  itself, and the largest number of bytes held
//   FAIL_SHOW=1    the call stack of each one that fails is written to stderr, after a line "--"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

typedef int main_function(int argc, char **argv, char **environment);

static main_function *program;
static int in_main, from, show, own;
static long count, count_own, at, above, held, peak;
static struct {
    uintptr_t begin, end;
} code[8]; // of the program, of Linkwork's library and of its module for HDF5, if that is preloaded
static int ncode;

static int add_code(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size, (void)unused;
    const char *name = object->dlpi_name; // "": the program
    if (*name && !strstr(name, "liblinkwork") && !strstr(name, "/linkwork/hdf5")) return 0;
    for (int i = 0; i < object->dlpi_phnum && ncode < 8; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        code[ncode].begin = object->dlpi_addr + part->p_vaddr;
        code[ncode].end = code[ncode].begin + part->p_memsz;
        ncode++;
    }
    return 0;
}

static int is_own(const void *caller)
{
    for (int i = 0; i < ncode; i++)
        if ((uintptr_t)caller >= code[i].begin && (uintptr_t)caller < code[i].end) return 1;
    return 0;
}

static void show_stack(void)
{
    void *frame[40];
    in_main = 0;
    if (write(STDERR_FILENO, "--\n", 3) == 3)
        backtrace_symbols_fd(frame, backtrace(frame, 40), STDERR_FILENO);
    in_main = 1;
}

static int fails(size_t size, const void *caller)
{
    if (!in_main) return 0;
    const int by_linkwork = is_own(caller);
    const long any = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    const long mine = __atomic_add_fetch(&count_own, by_linkwork, __ATOMIC_RELAXED);
    if (own && !by_linkwork) return 0;
    const long n = own ? mine : any;
    const long more = size < (size_t)1 << 40 ? (long)size : 1L << 40;
    const int too_much = above > 0 && __atomic_load_n(&held, __ATOMIC_RELAXED) + more > above;
    if (!too_much && (at <= 0 || (from ? n < at : n != at))) return 0;
    if (show) show_stack();
    errno = ENOMEM;
    return 1;
}

// The block, counted; those from before main() may be released after it.
static void *taken(void *block)
{
    if (!block) return NULL;
    const long size = (long)malloc_usable_size(block);
    const long now = __atomic_add_fetch(&held, size, __ATOMIC_RELAXED);
    if (now > peak) peak = now;
    return block;
}

static void give_back(void *block)
{
    if (block) __atomic_sub_fetch(&held, (long)malloc_usable_size(block), __ATOMIC_RELAXED);
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size)
{
    return fails(size, CALLER) ? NULL : taken(__libc_malloc(size));
}
void *calloc(size_t number, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(number, size, &bytes)) return NULL;
    return fails(bytes, CALLER) ? NULL : taken(__libc_calloc(number, size));
}
void *realloc(void *block, size_t size)
{
    const long before = block ? (long)malloc_usable_size(block) : 0;
    if (fails((long)size > before ? size - (size_t)before : 0, CALLER)) return NULL;
    void *p = __libc_realloc(block, size);
    if (p || !size) __atomic_sub_fetch(&held, before, __ATOMIC_RELAXED);
    return taken(p);
}
void free(void *block)
{
    give_back(block);
    __libc_free(block);
}
void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(size, CALLER) ? NULL : taken(__libc_memalign(alignment, size));
}
int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *p = fails(size, CALLER) ? NULL : taken(__libc_memalign(alignment, size));
    if (p) *block = p;
    return p ? 0 : ENOMEM;
}

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

static int counted_main(int argc, char **argv, char **environment)
{
    void *frame[4];
    backtrace(frame, 4); // it loads a library at its first call
    held = peak = 0;
    above = number("FAIL_ABOVE");
    at = number("FAIL_AT"), from = (int)number("FAIL_FROM"), show = (int)number("FAIL_SHOW");
    own = (int)number("FAIL_OWN");
    dl_iterate_phdr(add_code, NULL);
    in_main = 1;
    return program(argc, argv, environment);
}

int __libc_start_main(main_function *of_program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*end)(void), void *stack)
{
    int (*start)(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void),
                 void *);
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    program = of_program;
    return start(counted_main, argc, argv, init, fini, end, stack);
}

__attribute__((destructor)) static void write_count(void)
{
    const char *name = getenv("FAIL_COUNT");
    in_main = 0;
    FILE *file = name ? fopen(name, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld %ld %ld\n", count, count_own, peak);
    fclose(file);
}
