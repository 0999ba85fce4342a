// build_id.c -- finds the GNU build ID, a note of ELF files, of the object that contains this code.
#define _GNU_SOURCE // dl_iterate_phdr
#include "base/build_id.h"

#ifdef __ELF__

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct search {
    const unsigned char *id;
    size_t size;
} search;

static const char here; // its address is in that object

static bool is_here(const struct dl_phdr_info *object)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t from = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (uintptr_t)&here - from < part->p_memsz) return true;
    }
    return false;
}

static size_t padded(size_t n, size_t align)
{
    return (n + align - 1) / align * align;
}

// A note is a header, a name and contents, each padded.
static void read_notes(const unsigned char *at, size_t size, size_t align, search *found)
{
    ElfW(Nhdr) head;
    while (size >= sizeof head) {
        memcpy(&head, at, sizeof head);
        const size_t from = padded(sizeof head + head.n_namesz, align);
        const size_t end = padded(from + head.n_descsz, align);
        if (from + head.n_descsz > size) return;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            !memcmp(at + sizeof head, "GNU", 4))
            *found = (search){at + from, head.n_descsz};
        if (end >= size) return;
        at += end, size -= end;
    }
}

static int search_object(struct dl_phdr_info *object, size_t size, void *found)
{
    (void)size;
    if (!is_here(object)) return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_NOTE)
            read_notes((const unsigned char *)(object->dlpi_addr + part->p_vaddr), part->p_memsz,
                       part->p_align == 8 ? 8 : 4, found);
    }
    return 1;
}

size_t lwi_build_id(const unsigned char **id)
{
    search found = {NULL, 0};
    dl_iterate_phdr(search_object, &found);
    *id = found.id;
    return found.size;
}

#else

size_t lwi_build_id(const unsigned char **id)
{
    *id = NULL;
    return 0;
}

#endif
