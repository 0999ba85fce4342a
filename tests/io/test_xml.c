// test_xml.c -- the element tree: content, places, refused input.
#include "io/xml.h"
#include "support/failing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static lw_status parse(lwi_xml *xml, const char *text, lw_error *error)
{
    return lwi_xml_parse(xml, text, strlen(text), "file.xml", NULL, error);
}

static void refuse(const char *text, int line, const char *part)
{
    lwi_xml xml;
    lw_error error;
    assert_int_equal(LW_ERR_PARSE, parse(&xml, text, &error));
    assert_string_equal("file.xml", error.file);
    assert_int_equal(line, error.line);
    if (!strstr(error.text, part)) fail_msg("'%s' does not say '%s'", error.text, part);
}

static void the_tree_has_content_and_places(void **state)
{
    (void)state;
    lwi_xml xml;
    assert_int_equal(LW_OK, parse(&xml,
                                  "<?xml version='1.0'?>\n<a x='1' y=\"&lt;b&gt;\">\n  <b/>\n"
                                  "  <c> two\n words </c><b z='3'/>\n<!-- <d/> -->\n</a>\n",
                                  NULL));
    const lwi_xml_element *a = xml.root, *b = lwi_xml_child(a, "b"), *c = lwi_xml_child(a, "c");
    assert_string_equal("a", a->name);
    assert_string_equal("1", lwi_xml_get(a, "x"));
    assert_string_equal("<b>", lwi_xml_get(a, "y"));
    assert_null(lwi_xml_get(a, "z"));
    assert_int_equal(3, b->line);
    assert_int_equal(3, b->column);
    assert_string_equal("", b->text);
    assert_string_equal("two\n words", c->text);
    assert_ptr_equal(c, b->next);
    assert_ptr_equal(a, c->parent);
    b = lwi_xml_next(b, "b");
    assert_string_equal("3", lwi_xml_get(b, "z"));
    assert_null(lwi_xml_next(b, "b"));
    assert_null(lwi_xml_child(a, "d"));
    lwi_xml_free(&xml);
}

static void invalid_files_are_refused_with_their_line(void **state)
{
    (void)state;
    refuse("", 1, "the file is empty, expected a model");
    refuse("\n", 2, "not valid XML");
    refuse("<a>\n<b></a>", 2, "not valid XML");
    refuse("<a>\n\n<b x='1' x='2'/></a>", 3, "not valid XML");
    refuse("<a>\n&nothing;</a>", 2, "not valid XML");
    refuse("<a/>\n<b/>", 2, "not valid XML");
    lwi_xml xml;
    lw_error error;
    assert_int_equal(LW_ERR_PARSE, lwi_xml_parse(&xml, "<a\0/>", 5, "f", NULL, &error));
}

static void entities_of_the_document_are_refused(void **state)
{
    (void)state;
    refuse("<?xml version='1.0'?>\n<!DOCTYPE lolz [\n<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]>\n"
           "<r>&b;</r>",
           2, "document type");
    refuse("<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><r>&x;</r>", 1, "document type");
    refuse("<!DOCTYPE r SYSTEM 'http://localhost/r.dtd'><r/>", 1, "document type");
}

static void depth_and_attributes_are_limited(void **state)
{
    (void)state;
    enum { DEEP = LWI_XML_MAX_DEPTH };
    char *text = malloc(7 * DEEP + 20);
    for (int depth = DEEP; depth <= DEEP + 1; depth++) {
        char *end = text;
        for (int i = 0; i < depth; i++) end += sprintf(end, "<a>");
        for (int i = 0; i < depth; i++) end += sprintf(end, "</a>");
        lwi_xml xml;
        if (depth > DEEP) {
            refuse(text, 1, "nested too deeply");
        } else {
            assert_int_equal(LW_OK, parse(&xml, text, NULL));
            lwi_xml_free(&xml);
        }
    }
    char *end = text + sprintf(text, "<a");
    for (int i = 0; i <= LWI_XML_MAX_ATTRIBUTES; i++) end += sprintf(end, " a%d=''", i);
    sprintf(end, "/>");
    refuse(text, 1, "too many attributes");
    free(text);
}

static void numbers_are_finite_and_counted(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool good;
    } cases[] = {
        {"1 2 3", true},      {" 1e-3\t-2.5\n+3 ", true}, {"1 .5 2.", true},  {"1 2", false},
        {"1 2 3 4", false},   {"1 2 x", false},           {"1 2 nan", false}, {"1 2 inf", false},
        {"1 2 0x10", false},  {"1 2 1e999", false},       {"1,2,3", false},   {"", false},
        {"1 2 3;", false},    {"1 2 -", false},           {"1 2 1e", false},  {"1 2 1-2", false},
        {"1 2 4e-400", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        snprintf(text, sizeof text, "<a xyz='%s'/>", cases[i].value);
        lwi_xml xml;
        lw_error error;
        double x[3] = {7, 7, 7};
        assert_int_equal(LW_OK, parse(&xml, text, NULL));
        const lw_status status = lwi_xml_numbers(&xml, xml.root, "xyz", 3, x, &error);
        if (status != (cases[i].good ? LW_OK : LW_ERR_PARSE)) fail_msg("'%s'", cases[i].value);
        if (cases[i].good && i < 2) assert_true(x[2] == 3);
        if (!cases[i].good) assert_non_null(strstr(error.text, "<a xyz>"));
        lwi_xml_free(&xml);
    }
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    char *text = malloc(200100); // more than one block of the arena
    char *end = text + sprintf(text, "<a>");
    for (int i = 0; i < 2000; i++) end += sprintf(end, "<b name='%d'> some text </b>", i);
    sprintf(end, "</a>");
    lw_status status = LW_ERR_MEMORY;
    int n = 0;
    for (; status != LW_OK; n++) {
        lwt_failing f = {.left = n};
        const lw_allocator allocator = lwt_failing_allocator(&f);
        lwi_xml xml;
        status = lwi_xml_parse(&xml, text, strlen(text), "f", &allocator, NULL);
        if (status == LW_OK)
            lwi_xml_free(&xml);
        else
            assert_int_equal(LW_ERR_MEMORY, status);
        assert_int_equal(0, f.live);
    }
    assert_true(n > 3);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_has_content_and_places),
        cmocka_unit_test(invalid_files_are_refused_with_their_line),
        cmocka_unit_test(entities_of_the_document_are_refused),
        cmocka_unit_test(depth_and_attributes_are_limited),
        cmocka_unit_test(numbers_are_finite_and_counted),
        cmocka_unit_test(every_failing_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
