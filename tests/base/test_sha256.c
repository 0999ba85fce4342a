// test_sha256.c -- SHA-256 against the examples of its standard, and in pieces.
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// [fips180-4], examples of NIST
static void examples(void **unused)
{
    (void)unused;
    static const char *const example[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof example / sizeof *example; i++) {
        char text[LWI_SHA256_SIZE];
        lwi_sha256_of(example[i][0], strlen(example[i][0]), text);
        assert_string_equal(text, example[i][1]);
    }
}

static void a_million_letters_in_pieces(void **unused)
{
    (void)unused;
    char letters[1000], text[LWI_SHA256_SIZE];
    memset(letters, 'a', sizeof letters);
    lwi_sha256 hash;
    lwi_sha256_begin(&hash);
    size_t left = 1000000;
    for (size_t n = 1; left > 0; n = n % 997 + 1) { // of every length
        const size_t piece = n < left ? n : left;
        lwi_sha256_add(&hash, letters, piece);
        left -= piece;
    }
    lwi_sha256_end(&hash, text);
    assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Every length around the end of a block: padding takes one block or two.
static void lengths(void **unused)
{
    (void)unused;
    char letters[200], one[LWI_SHA256_SIZE], two[LWI_SHA256_SIZE];
    memset(letters, 'x', sizeof letters);
    for (size_t n = 0; n < sizeof letters; n++) {
        lwi_sha256 hash;
        lwi_sha256_of(letters, n, one);
        lwi_sha256_begin(&hash);
        for (size_t i = 0; i < n; i++) lwi_sha256_add(&hash, letters + i, 1);
        lwi_sha256_end(&hash, two);
        assert_string_equal(one, two);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples),
                                       cmocka_unit_test(a_million_letters_in_pieces),
                                       cmocka_unit_test(lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
