// assert.c -- message and abort after a failed assertion.
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void lwi_assert_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
