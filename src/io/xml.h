// xml.h -- an XML text as a tree of elements with their places.  Knows no model.
//
// Made for files from anywhere: size, depth and number of elements are limited, document type
// declarations (and with them every kind of entity beyond the five of XML) are refused, nothing is
// read from outside the text.
#ifndef LWI_IO_XML_H
#define LWI_IO_XML_H

#include "base/base.h"

enum {
    LWI_XML_MOST_BYTES = 64 << 20, ///< of the text; the largest robots have about one
    LWI_XML_MOST_ELEMENTS = 1 << 20,
    LWI_XML_MOST_DEPTH = 1000,     ///< nested chains of bodies in other formats are deep
    LWI_XML_MOST_ATTRIBUTES = 100, ///< of one element
};

typedef struct lwi_xml_attribute {
    const char *name, *value;
} lwi_xml_attribute;

typedef struct lwi_xml_element {
    const char *name; ///< as written, with its prefix
    const char *text; ///< of an element without children, no white space around it; never NULL
    const lwi_xml_attribute *attribute; ///< [nattribute]
    int nattribute;
    int line, column; ///< of its '<', from 1
    const char *file; ///< that it stands in, as lwi_xml.file
    struct lwi_xml_element *parent, *first, *last, *next;
} lwi_xml_element;

typedef struct lwi_xml {
    lwi_arena arena;
    const char *file; ///< in messages; the caller's
    lwi_xml_element *root;
} lwi_xml;

/** Reads `text`.  After LW_OK lwi_xml_free ends the tree, after a failure nothing is kept. */
lw_status lwi_xml_parse(lwi_xml *xml, const char *text, size_t length, const char *file,
                        const lw_allocator *allocator, lw_error *error);
void lwi_xml_free(lwi_xml *xml);

/** First child with this name, and the next sibling with it; NULL when there is none. */
const lwi_xml_element *lwi_xml_child(const lwi_xml_element *element, const char *name);
const lwi_xml_element *lwi_xml_next(const lwi_xml_element *element, const char *name);
/** Value of an attribute or NULL. */
const char *lwi_xml_get(const lwi_xml_element *element, const char *attribute);

/** Fails at the element's place. */
lw_status lwi_xml_fail(const lwi_xml *xml, const lwi_xml_element *element, lw_status status,
                       lw_error *error, const char *format, ...) LW_PRINTF(5, 6);
/** Reads exactly `count` finite decimal numbers; where the attribute is missing `x` is left alone.
 *  The thread's numbers have a decimal point (lwi_numbers_begin, by whoever calls the reader).
 *  @return LW_ERR_PARSE: "<axis xyz>: 'a 0 1' is not 3 finite numbers" */
lw_status lwi_xml_numbers(const lwi_xml *xml, const lwi_xml_element *element, const char *attribute,
                          int count, double *x, lw_error *error);
/** Finite decimal numbers of a text: how many, at most `most`; -1: there is something else, or more. */
int lwi_xml_list(const char *text, int most, double *x);
/** The same as lwi_xml_numbers from the text of an element. */
lw_status lwi_xml_text_numbers(const lwi_xml *xml, const lwi_xml_element *element, int count,
                               double *x, lw_error *error);
/** Value of an attribute that must be there. */
lw_status lwi_xml_need(const lwi_xml *xml, const lwi_xml_element *element, const char *attribute,
                       const char **value, lw_error *error);

#endif
