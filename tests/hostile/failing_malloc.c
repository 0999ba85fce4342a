// failing_malloc.c -- preloaded: lets allocations of a program fail, as if there were no memory.
//
//   FAIL_AT=N      the N-th allocation after the start of main() fails; without it none
//   FAIL_FROM=1    and all after it
//   FAIL_COUNT=F   at the end the number of allocations is written to the file F
//   FAIL_SHOW=1    the call stack of each one that fails is written to stderr, after a line "--"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

typedef int main_function(int argc, char **argv, char **environment);

static main_function *program;
static int in_main, from, show;
static long count, at;

static void show_stack(void)
{
    void *frame[40];
    in_main = 0;
    if (write(STDERR_FILENO, "--\n", 3) == 3)
        backtrace_symbols_fd(frame, backtrace(frame, 40), STDERR_FILENO);
    in_main = 1;
}

static int fails(void)
{
    if (!in_main) return 0;
    const long n = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    if (at <= 0 || (from ? n < at : n != at)) return 0;
    if (show) show_stack();
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}
void *calloc(size_t number, size_t size)
{
    return fails() ? NULL : __libc_calloc(number, size);
}
void *realloc(void *block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}
void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *p = fails() ? NULL : __libc_memalign(alignment, size);
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
    at = number("FAIL_AT"), from = (int)number("FAIL_FROM"), show = (int)number("FAIL_SHOW");
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
    fprintf(file, "%ld\n", count);
    fclose(file);
}
