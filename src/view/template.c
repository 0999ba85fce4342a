// template.c -- viewer/dist/page.html as it is, inside the library.
#include "view/view.h"

// The assembler takes the file in; LWI_PAGE is its path.
__asm__(".section .rodata\n"
        ".global lwi_page_template\n"
        ".hidden lwi_page_template\n"
        ".type lwi_page_template, @object\n"
        "lwi_page_template:\n"
        ".incbin \"" LWI_PAGE "\"\n"
        "lwi_page_template_end:\n"
        ".byte 0\n"
        ".size lwi_page_template, lwi_page_template_end - lwi_page_template\n"
        ".global lwi_page_template_size\n"
        ".hidden lwi_page_template_size\n"
        ".balign 8\n"
        ".type lwi_page_template_size, @object\n"
        "lwi_page_template_size:\n"
        ".quad lwi_page_template_end - lwi_page_template\n"
        ".size lwi_page_template_size, 8\n"
        ".text\n");
