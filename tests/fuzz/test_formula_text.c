// test_formula_text.c -- mutated formulas: each is a program or a mistake with a place, and nothing
// else (check_formula.h).
//
//   test_formula_text [--mutations N] [--seed S]
//
// A failing text is printed with its seed.
#include "fuzz/check_formula.h"

#include "model/signals/formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

static uint64_t state;

// splitmix64: a good sequence from any start
static size_t below(size_t count)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (size_t)((z ^ z >> 31) % count);
}

// ----------------------------------------------------------------------------------------
// mutations

static const char *const seeds[] = {
    "2*sin(3*t)",
    "-40*rope.q0 - 3*rope.qd0",
    "where(t > 1 and not t >= 2 or t == 0.5, 1e-3, -pi)/max(1, t, e)",
    "step(t, 0, 'left knee'.q1)^2^-0.5 + atan2(A.q0, 2 + cos(t))",
    "exp(-t/3)*(sinh(t) - tanh(A.qd2))*log(1 + abs(t)) + sqrt(t)*sign(t - 1)",
    "min(asin(t/9), acos(t/9), log10(t)) != tan(t) + (cosh(t) <= 1)*atan(t)",
    "45 N/mm*(0.3 m - 2 cm^2/mm) + 3000 rpm*1 kN s^2/m",
};

static const char *const tokens[] = {
#define X(name, text, operands) text,
    LWI_FORMULA_OPERATOR_LIST(X)
#undef X
#define X(name, text, operands, call) text "(",
        LWI_FORMULA_FUNCTION_LIST(X)
#undef X
            "(",
    ")",
    "((((((((",
    "))))))))",
    ",",
    ".",
    "'",
    "''",
    " ",
    "\n",
    "t",
    "pi",
    "e",
    "1",
    "0",
    "0.5",
    "1e308",
    "1e-308",
    "9e999",
    "1.",
    ".5",
    "A.q0",
    "A.qd0",
    ".q1",
    ".qd9",
    "'a b'.q0",
    "x",
    "and",
    "=",
    "**",
    "$",
    "\\",
    "\x01",
    "\x7f",
    "\xc3\xa4",
    "\xff",
    "----",
    "^^",
    "2^2^2^2^2^2",
    "1 mm",
    " kg",
    " N/mm",
    " s^-2",
    " m^9",
    " rpm",
    "*N",
    "/s",
    "1e308 km",
};

static size_t insert(char *text, size_t length, size_t at, const char *token)
{
    const size_t n = strlen(token);
    if (length + n >= ROOM) return length;
    memmove(text + at + n, text + at, length - at + 1);
    memcpy(text + at, token, n);
    return length + n;
}

static size_t cut(char *text, size_t length, size_t at, size_t n)
{
    if (n > length - at) n = length - at;
    memmove(text + at, text + at + n, length - at - n + 1);
    return length - n;
}

static void mutate(char *text)
{
    size_t length = strlen(strcpy(text, seeds[below(LWI_COUNT(seeds))]));
    for (size_t edits = below(6); edits > 0; edits--) {
        const size_t at = below(length + 1);
        char piece[64];
        switch (below(4)) {
        case 0:
            length = cut(text, length, at, 1 + below(4));
            break;
        case 1:
            snprintf(piece, 1 + below(sizeof piece), "%s", text + at);
            length = insert(text, length, below(length + 1), piece);
            break;
        case 2:
            for (size_t n = below(40); below(4) == 0 && n > 0; n--)
                length = insert(text, length, at, tokens[below(LWI_COUNT(tokens))]);
            break;
        default:
            length = insert(text, length, at, tokens[below(LWI_COUNT(tokens))]);
            break;
        }
    }
}

int main(int argc, char **argv)
{
    static char text[ROOM];
    long mutations = 20000, count[2] = {0};
    uint64_t seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--mutations") == 0) mutations = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
    }
    state = seed;
    for (long k = 0; k < mutations; k++) {
        mutate(text);
        if (check_formula(text, count)) {
            fprintf(stderr, "mutation %ld of seed %llu\n", k, (unsigned long long)seed);
            return 1;
        }
    }
    printf("%ld formulas: %ld programs, %ld mistakes\n", mutations, count[1], count[0]);
    return 0;
}
