// template.c -- viewer/dist/page.html, embedded in the library.
#include "view/view.h"

// The assembler includes the file; LWI_PAGE is its path.  Object formats have different names for the
// section of constants and for hidden symbols.
#ifdef __APPLE__ // Mach-O: symbols of C begin with _
#define SECTION ".section __TEXT,__const\n"
#define SYMBOL(name) ".globl _" name "\n.private_extern _" name "\n.p2align 3\n_" name ":\n"
#define BACK ".text\n"
#else // ELF
#define SECTION ".pushsection .rodata,\"a\"\n"
#define SYMBOL(name)                                                                               \
    ".globl " name "\n.hidden " name "\n.type " name ", %object\n.p2align 3\n" name ":\n"
#define BACK ".popsection\n"
#endif

__asm__(SECTION SYMBOL(
    "lwi_view_template") ".incbin \"" LWI_PAGE "\"\n"
                         "lwi_view_template_end:\n"
                         ".byte 0\n" SYMBOL(
                             "lwi_view_template_size") ".quad lwi_view_template_end - "
#ifdef __APPLE__
                                                       "_"
#endif
                                                       "lwi_view_template\n" BACK);
