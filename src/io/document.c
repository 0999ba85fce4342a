// document.c -- a tree of values from the events of libyaml, or from a plain JSON text (json_scan.h).
#include "base/assert.h"
#include "io/document.h"
#include "io/json_scan.h"
#include "io/names.h"
#include "io/text.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

// A map or list that has not ended: its values are on the stack from `start` on.
typedef struct level {
    lwi_document_value *value;
    int start;
} level;

typedef struct anchor {
    const char *name;
    const lwi_document_value *value;
} anchor;

typedef struct building {
    yaml_parser_t parser;
    const char *name; // of the file
    lwi_arena *arena;
    lw_error *error;
    lwi_document_value
        *pool; // block from which values are taken: an arena block each would cost 128 bytes
    int pool_left;
    char *text; // the same for short strings
    size_t text_left;
    const lwi_document_value *
        *stack; // values of open maps and lists; keys and items alternate in maps
    int nstack, stack_room;
    level level[LWI_DOCUMENT_DEPTH];
    int depth;
    anchor anchor[LWI_DOCUMENT_ANCHORS];
    int nanchor;
    int total;
    const lwi_document_value *root;
} building;

int lwi_document_find(const lwi_document_value *map, const char *key)
{
    const lwi_names names = {.name = map->key, .order = map->order, .count = map->count};
    return lwi_names_find(&names, key);
}

// ----------------------------------------------------------------------------------------- values

static lw_place place_of(yaml_mark_t mark)
{
    return (lw_place){(int)mark.line + 1, (int)mark.column + 1};
}

static lw_status no_memory(building *b)
{
    return lwi_fail(b->error, LW_ERR_MEMORY, "no memory for the document");
}

#define FAIL(b, place, ...)                                                                        \
    lwi_fail_at((b)->error, LW_ERR_PARSE, (b)->name, (place).line, (place).column, __VA_ARGS__)

static lw_status count_values(building *b, lw_place place, int more)
{
    LWI_ASSERT(more > 0 && b->total >= 0 && b->total <= LWI_DOCUMENT_VALUES);
    if (more > LWI_DOCUMENT_VALUES - b->total)
        return FAIL(b, place, "more than %d values (an alias counts as the values of its anchor)",
                    (int)LWI_DOCUMENT_VALUES);
    b->total += more;
    return LW_OK;
}

static lwi_document_value *new_value(building *b, lwi_document_kind kind, lw_place place)
{
    enum { BLOCK = 256 };
    if (b->pool_left == 0) {
        b->pool = LWI_PUSH(b->arena, lwi_document_value, BLOCK);
        if (!b->pool) return NULL;
        b->pool_left = BLOCK;
    }
    b->pool_left--;
    lwi_document_value *value = b->pool++;
    *value = (lwi_document_value){.kind = kind, .place = place, .weight = 1};
    return value;
}

static const char *copy_text(building *b, const char *text, size_t length)
{
    enum { BLOCK = 1 << 14, SHORT = 1 << 10 };
    if (length >= SHORT) {
        char *own = lwi_arena_chars(b->arena, length + 1);
        return own ? memcpy(own, text, length) : NULL;
    }
    if (length >= b->text_left) {
        b->text = LWI_PUSH(b->arena, char, BLOCK);
        if (!b->text) return NULL;
        b->text_left = BLOCK;
    }
    LWI_ASSERT(length < b->text_left);
    char *copy = memcpy(b->text, text, length);
    b->text += length + 1;
    b->text_left -= length + 1;
    return copy;
}

// Appends a complete value to the open map or list, or makes it the root.
static lw_status deliver(building *b, const lwi_document_value *value)
{
    if (b->depth == 0) {
        b->root = value;
        return LW_OK;
    }
    if (b->nstack == b->stack_room) {
        const int room = b->stack_room ? 2 * b->stack_room : 256;
        const lwi_document_value **larger = LWI_PUSH(b->arena, const lwi_document_value *, room);
        if (!larger) return no_memory(b);
        if (b->nstack) memcpy(larger, b->stack, (size_t)b->nstack * sizeof *larger);
        b->stack = larger;
        b->stack_room = room;
    }
    LWI_ASSERT_INDEX(b->nstack, b->stack_room);
    b->stack[b->nstack++] = value;
    return LW_OK;
}

// -------------------------------------------------------------------------------- anchors, aliases

static lw_status set_anchor(building *b, const yaml_char_t *name, const lwi_document_value *value)
{
    if (!name) return LW_OK;
    if (b->nanchor == LWI_DOCUMENT_ANCHORS)
        return FAIL(b, value->place, "more than %d anchors", (int)LWI_DOCUMENT_ANCHORS);
    const char *copy = lwi_arena_text(b->arena, (const char *)name);
    if (!copy) return no_memory(b);
    LWI_ASSERT_INDEX(b->nanchor, LWI_DOCUMENT_ANCHORS);
    b->anchor[b->nanchor++] = (anchor){copy, value};
    return LW_OK;
}

static bool is_open(const building *b, const lwi_document_value *value)
{
    for (int i = 0; i < b->depth; i++)
        if (b->level[i].value == value) return true;
    return false;
}

// A later anchor of the same name hides an earlier one.
static lw_status add_alias(building *b, const char *name, lw_place place)
{
    for (int i = b->nanchor - 1; i >= 0; i--) {
        if (strcmp(b->anchor[i].name, name) != 0) continue;
        const lwi_document_value *value = b->anchor[i].value;
        if (is_open(b, value)) return FAIL(b, place, "alias '*%s' is inside its own anchor", name);
        TRY(count_values(b, place, value->weight));
        return deliver(b, value);
    }
    return FAIL(b, place, "alias '*%s' has no anchor before it", name);
}

// ----------------------------------------------------------------------------------------- events

static lw_status refuse_tag(building *b, const yaml_char_t *tag, lw_place place)
{
    if (!tag) return LW_OK;
    return FAIL(b, place, "tag '%.60s': tags are not part of this format", (const char *)tag);
}

// @param number  it is one, which the scanner has seen
static lw_status add_scalar(building *b, const char *text, size_t length, bool quoted, bool number,
                            const yaml_char_t *name, lw_place place)
{
    TRY(count_values(b, place, 1));
    lwi_document_value *value = new_value(b, LWI_DOCUMENT_SCALAR, place);
    if (!value) return no_memory(b);
    value->quoted = quoted;
    value->text = copy_text(b, text, length);
    if (!value->text) return no_memory(b);
    const bool may = *value->text == '-' || (*value->text >= '0' && *value->text <= '9');
    value->number = number || (may && lwi_text_is_number(value->text));
    TRY(set_anchor(b, name, value));
    return deliver(b, value);
}

static lw_status take_scalar(building *b, const yaml_event_t *event)
{
    const lw_place place = place_of(event->start_mark);
    const char *text = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;
    TRY(refuse_tag(b, event->data.scalar.tag, place));
    if (strlen(text) != length) return FAIL(b, place, "a string contains a zero byte");
    return add_scalar(b, text, length, event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE, false,
                      event->data.scalar.anchor, place);
}

static lw_status open_level(building *b, lwi_document_kind kind, const yaml_char_t *tag,
                            const yaml_char_t *name, lw_place place)
{
    TRY(refuse_tag(b, tag, place));
    if (b->depth == LWI_DOCUMENT_DEPTH)
        return FAIL(b, place, "more than %d maps and lists inside each other",
                    (int)LWI_DOCUMENT_DEPTH);
    TRY(count_values(b, place, 1));
    lwi_document_value *value = new_value(b, kind, place);
    if (!value) return no_memory(b);
    TRY(set_anchor(b, name, value));
    LWI_ASSERT_INDEX(b->depth, LWI_DOCUMENT_DEPTH);
    b->level[b->depth++] = (level){value, b->nstack};
    return LW_OK;
}

static lw_status finish_list(building *b, lwi_document_value *value,
                             const lwi_document_value *const *items, int count)
{
    value->count = count;
    value->item = LWI_PUSH(b->arena, const lwi_document_value *, count);
    if (!value->item) return no_memory(b);
    for (int i = 0; i < count; i++) {
        value->item[i] = items[i];
        value->weight += items[i]->weight;
    }
    return LW_OK;
}

static lw_status sort_keys(building *b, const lwi_document_value *map)
{
    lwi_names names = {.name = map->key, .order = map->order, .count = map->count};
    lwi_names_sort(&names);
    const int k = lwi_names_repeated(&names);
    if (!k) return LW_OK;
    const int one = map->order[k - 1], other = map->order[k];
    return FAIL(b, map->key_place[other], "key '%.100s' occurs twice in one map, first in line %d",
                map->key[other], map->key_place[one].line);
}

static lw_status finish_map(building *b, lwi_document_value *value,
                            const lwi_document_value *const *pairs, int count)
{
    value->count = count;
    enum { EACH = sizeof *value->item + sizeof *value->key + sizeof *value->key_place };
    char *room = lwi_arena_push(b->arena, (size_t)count, EACH + sizeof *value->order);
    if (!room) return no_memory(b);
    const size_t n = (size_t)count;
    value->item = (const lwi_document_value **)(void *)room;
    value->key = (const char **)(void *)(room + n * sizeof *value->item);
    value->key_place = (lw_place *)(void *)(value->key + n);
    value->order = (int *)(void *)(value->key_place + n);
    for (int i = 0; i < count; i++) {
        const lwi_document_value *key = pairs[2 * i], *item = pairs[2 * i + 1];
        if (key->kind != LWI_DOCUMENT_SCALAR)
            return FAIL(b, key->place, "a key is a list or a map, expected a name");
        value->key[i] = key->text;
        value->key_place[i] = key->place;
        value->item[i] = item;
        value->weight += key->weight + item->weight;
    }
    return sort_keys(b, value);
}

static lw_status close_level(building *b)
{
    const level top = b->level[--b->depth];
    const int count = b->nstack - top.start;
    const lwi_document_value *const *items = count ? b->stack + top.start : NULL;
    if (top.value->kind == LWI_DOCUMENT_LIST)
        TRY(finish_list(b, top.value, items, count));
    else
        TRY(finish_map(b, top.value, items, count / 2));
    b->nstack = top.start;
    return deliver(b, top.value);
}

static lw_status take_event(building *b, const yaml_event_t *event)
{
    const lw_place place = place_of(event->start_mark);
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return take_scalar(b, event);
    case YAML_ALIAS_EVENT:
        return add_alias(b, (const char *)event->data.alias.anchor, place);
    case YAML_SEQUENCE_START_EVENT:
        return open_level(b, LWI_DOCUMENT_LIST, event->data.sequence_start.tag,
                          event->data.sequence_start.anchor, place);
    case YAML_MAPPING_START_EVENT:
        return open_level(b, LWI_DOCUMENT_MAP, event->data.mapping_start.tag,
                          event->data.mapping_start.anchor, place);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_level(b);
    case YAML_DOCUMENT_START_EVENT:
        if (b->root) return FAIL(b, place, "a second document begins here, expected one in a file");
        return LW_OK;
    default:
        return LW_OK;
    }
}

// ---------------------------------------------------------------------------------------- parsing

// The error of the parser: where it stopped, or the line with the invalid bytes.
static lw_status parser_failed(building *b, const char *text, size_t length)
{
    const yaml_parser_t *p = &b->parser;
    if (p->error == YAML_MEMORY_ERROR) return no_memory(b);
    const char *problem = p->problem ? p->problem : "not valid YAML";
    lw_place place = place_of(p->problem_mark);
    if (p->error == YAML_READER_ERROR) {
        place = (lw_place){1, 1};
        for (size_t i = 0; i < p->problem_offset && i < length; i++) {
            place.column++;
            if (text[i] == '\n') place = (lw_place){place.line + 1, 1};
        }
        return FAIL(b, place, "%s (byte %zu), expected UTF-8 text", problem, p->problem_offset);
    }
    const char at = p->problem_mark.index < length ? text[p->problem_mark.index] : 0;
    if (at == '\t')
        return FAIL(b, place,
                    "a tab character is not allowed here: YAML lines are indented by spaces");
    return FAIL(b, place, "%s%s%s", problem, p->context ? ", " : "", p->context ? p->context : "");
}

static lw_status parse_events(building *b, const char *text, size_t length)
{
    for (bool more = true; more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&b->parser, &event)) return parser_failed(b, text, length);
        more = event.type != YAML_STREAM_END_EVENT;
        const lw_status status = take_event(b, &event);
        yaml_event_delete(&event);
        TRY(status);
    }
    return LW_OK;
}

// JSON writes characters beyond 16 bits as two escapes (a surrogate pair), which libyaml refuses; YAML has a
// single escape.  Only a document refused for such an escape is rewritten; a valid one is not changed.
static bool refused_escape(const yaml_parser_t *p)
{
    return p->error == YAML_SCANNER_ERROR && p->problem && strstr(p->problem, "Unicode");
}

// The 16 bits of an escape like \uD83D, or -1.  The input may end anywhere.
static long escaped_half(const char *text, size_t length)
{
    long half = 0;
    if (length < 6 || text[0] != '\\' || text[1] != 'u') return -1;
    for (int i = 2; i < 6; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit) return -1;
        half = 16 * half + (digit - digits) % 16;
    }
    return half;
}

// A copy with \Uhhhhhhhh for each pair; NULL: no pair, or no memory.  Columns after a pair are two too
// small.
static const char *join_pairs(const char *text, size_t *length, lwi_arena *arena)
{
    enum { HALF = 6 };
    char *copy = LWI_PUSH(arena, char, *length + 1);
    size_t used = 0;
    bool joined = false;
    for (size_t i = 0; copy && i < *length;) {
        const long high = escaped_half(text + i, *length - i);
        const long low = high < 0 ? -1 : escaped_half(text + i + HALF, *length - i - HALF);
        if (high >= 0xD800 && high < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
            const long code = 0x10000 + (high - 0xD800) * 0x400 + (low - 0xDC00);
            used += (size_t)snprintf(copy + used, 11, "\\U%08lX", (unsigned long)code);
            i += 2 * HALF;
            joined = true;
        } else {
            const bool escape =
                text[i] == '\\' && i + 1 < *length; // the escaped character is copied too
            copy[used++] = text[i++];
            if (escape) copy[used++] = text[i++];
        }
    }
    *length = used;
    return joined ? copy : NULL;
}

static lw_status parse_once(const char *text, size_t length, const char *name, lwi_arena *arena,
                            const lwi_document_value **root, bool *escape, lw_error *error)
{
    building *b = LWI_PUSH(arena, building, 1);
    if (!b) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the document");
    b->name = name, b->arena = arena, b->error = error;
    if (!yaml_parser_initialize(&b->parser)) return no_memory(b);
    yaml_parser_set_input_string(&b->parser, (const unsigned char *)text, length);
    const lw_status status = parse_events(b, text, length);
    *escape = status == LW_ERR_PARSE && refused_escape(&b->parser);
    yaml_parser_delete(&b->parser);
    *root = b->root;
    return status;
}

static lw_status take_token(building *b, const lwi_json_token *token)
{
    switch (token->kind) {
    case LWI_JSON_SCALAR:
        return add_scalar(b, token->text, token->length, token->quoted, token->number, NULL,
                          token->place);
    case LWI_JSON_LIST:
        return open_level(b, LWI_DOCUMENT_LIST, NULL, NULL, token->place);
    case LWI_JSON_MAP:
        return open_level(b, LWI_DOCUMENT_MAP, NULL, NULL, token->place);
    case LWI_JSON_CLOSE:
        return close_level(b);
    default:
        return LW_OK;
    }
}

static lw_status parse_json(const char *text, size_t length, lwi_arena *arena,
                            const lwi_document_value **root)
{
    lwi_json_scan scan = lwi_json_begin(text, length);
    building *b = LWI_PUSH(arena, building, 1);
    if (!b) return LW_ERR_MEMORY;
    b->name = "", b->arena = arena;
    for (lwi_json_token token;;) {
        lwi_json_next(&scan, &token);
        if (token.kind == LWI_JSON_OTHER) return LW_OK;
        if (token.kind == LWI_JSON_END) break;
        const lw_status status = take_token(b, &token);
        if (status != LW_OK) return status == LW_ERR_PARSE ? LW_OK : status;
    }
    *root = b->root;
    return LW_OK;
}

// Keeps an attempt that has made a document, and releases any other.
static void end_attempt(lwi_arena *attempt, const lwi_document_value *root, lwi_arena *arena)
{
    if (root)
        lwi_arena_take(arena, attempt);
    else
        lwi_arena_free(attempt);
}

lw_status lwi_document_parse_json(const char *text, size_t length, lwi_arena *arena,
                                  const lwi_document_value **root)
{
    lwi_arena attempt;
    *root = NULL;
    if (!length || (*text != '{' && *text != '[')) return LW_OK;
    lwi_arena_init(&attempt, &arena->allocator);
    const lw_status status = parse_json(text, length, &attempt, root);
    end_attempt(&attempt, *root, arena);
    return status;
}

static lw_status parse_yaml(const char *text, size_t length, const char *name, lwi_arena *arena,
                            const lwi_document_value **root, bool *escape, lw_error *error)
{
    lwi_arena attempt;
    lwi_arena_init(&attempt, &arena->allocator);
    const lw_status status = parse_once(text, length, name, &attempt, root, escape, error);
    if (status != LW_OK) *root = NULL;
    end_attempt(&attempt, *root, arena);
    return status;
}

// With surrogate pairs joined; *root remains NULL where there are none.
static lw_status parse_pairs(const char *text, size_t length, const char *name, lwi_arena *arena,
                             const lwi_document_value **root, lw_status status, lw_error *error)
{
    lwi_arena copy;
    bool escape;
    lwi_arena_init(&copy, &arena->allocator);
    const char *joined = join_pairs(text, &length, &copy);
    if (joined) {
        if (error) memset(error, 0, sizeof *error);
        status = parse_yaml(joined, length, name, arena, root, &escape, error);
    }
    lwi_arena_free(&copy);
    return status;
}

lw_status lwi_document_parse(const char *text, size_t length, const char *name, lwi_arena *arena,
                             const lwi_document_value **root, lw_error *error)
{
    bool escape = false;
    if (lwi_document_parse_json(text, length, arena, root) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the document");
    if (*root) return LW_OK;
    lw_status status = parse_yaml(text, length, name, arena, root, &escape, error);
    if (escape) status = parse_pairs(text, length, name, arena, root, status, error);
    TRY(status);
    if (*root) return LW_OK;
    return lwi_fail_at(error, LW_ERR_PARSE, name, 1, 1, "the file is empty, expected a model");
}
