// xml.h -- an XML file as a tree of elements with line and column.  Independent of the model.
//
// Input is untrusted: size, depth and number of elements are limited, document type declarations
// (and with them all entities but the five of XML) are refused, no other file is read.
#ifndef LWI_IO_XML_H
#define LWI_IO_XML_H

#include "base/base.h"

enum {
    LWI_XML_MAX_BYTES = 64 << 20, ///< of the file; the largest robots have about one MiB
    LWI_XML_MAX_ELEMENTS = 1 << 20,
    LWI_XML_MAX_DEPTH = 1000,     ///< nested chains of bodies in other formats are deep
    LWI_XML_MAX_ATTRIBUTES = 100, ///< of one element
};

typedef struct lwi_xml_attribute {
    const char *name, *value;
} lwi_xml_attribute;

typedef struct lwi_xml_element {
    const char *name;                   ///< as written, with its prefix
    const char *text;                   ///< of an element without children, trimmed; never NULL
    const lwi_xml_attribute *attribute; ///< [nattribute]
    int nattribute;
    int line, column; ///< of its '<', from 1
    const char *file; ///< that contains it, as lwi_xml.file
    struct lwi_xml_element *parent, *first, *last, *next;
} lwi_xml_element;

typedef struct lwi_xml {
    lwi_arena arena;
    const char *file; ///< for messages; owned by the caller
    lwi_xml_element *root;
} lwi_xml;

/** Parses `text`.  After LW_OK the caller frees the tree with lwi_xml_free; after a failure nothing is allocated. */
lw_status lwi_xml_parse(lwi_xml *xml, const char *text, size_t length, const char *file,
                        const lw_allocator *allocator, lw_error *error);
void lwi_xml_free(lwi_xml *xml);

/** First child with this name, and the next sibling with it; NULL when there is none. */
const lwi_xml_element *lwi_xml_child(const lwi_xml_element *element, const char *name);
const lwi_xml_element *lwi_xml_next(const lwi_xml_element *element, const char *name);
/** Value of an attribute or NULL. */
const char *lwi_xml_get(const lwi_xml_element *element, const char *attribute);

/** Fails with line and column of the element. */
lw_status lwi_xml_fail(const lwi_xml *xml, const lwi_xml_element *element, lw_status status,
                       lw_error *error, const char *format, ...) LW_PRINTF(5, 6);
/** Reads exactly `count` finite decimal numbers; if the attribute is missing `x` is unchanged.
 *  The caller of the reader has called lwi_numbers_begin: numbers have a decimal point.
 *  @return LW_ERR_PARSE: "<axis xyz>: 'a 0 1' is not 3 finite numbers" */
lw_status lwi_xml_numbers(const lwi_xml *xml, const lwi_xml_element *element, const char *attribute,
                          int count, double *x, lw_error *error);
/** Reads finite decimal numbers.  @return how many; -1: more than `max`, or something else */
int lwi_xml_list(const char *text, int max, double *x);
/** As lwi_xml_numbers, from the text of an element. */
lw_status lwi_xml_text_numbers(const lwi_xml *xml, const lwi_xml_element *element, int count,
                               double *x, lw_error *error);
/** Value of a required attribute. */
lw_status lwi_xml_need(const lwi_xml *xml, const lwi_xml_element *element, const char *attribute,
                       const char **value, lw_error *error);

#endif
