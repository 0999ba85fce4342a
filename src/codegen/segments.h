// segments.h -- the parts of a function with repetitions: what repeat.c finds, packs.c orders and repeat_print.c prints.
#ifndef LWI_CODEGEN_SEGMENTS_H
#define LWI_CODEGEN_SEGMENTS_H

#include "codegen/repeat.h"

/** An operand of a value in a segment: the position of another one there, or one of these. */
enum { LWI_OF_LITERAL = -1, LWI_OF_OTHER = -2 };

typedef struct lwi_segment {
    int vertex;      ///< it begins there
    int first, n;    ///< values with an operation: live[first ...]
    int code, ncode; ///< the operations and kinds of operands
    int use, nuse;   ///< operands that are values of others, or inputs
    int number, nliteral;
    int check, ncheck;
    uint32_t hash;
    int shape, kind;
    int address; ///< of what others read
    int pack;    ///< with which it is evaluated; -1: alone
    bool apart;  ///< each value that it reads has its own base
} lwi_segment;

/** Segments with the same code. */
typedef struct lwi_shape {
    int segment; ///< the first one
    int *place;  ///< [n] of a value among those that others read; -1: none does
    int nplace;
    int stride; ///< between two places: 1, or the lanes of a row of segments
} lwi_shape;

/** Segments of a shape that find what they read at the same distances from each other.  Rare kinds of one shape are merged to one
 *  in which each value that is read has its own base; else the code would grow with the number of kinds. */
typedef struct lwi_kind {
    int segment, count; ///< the first one
    int *slot, *offset; ///< [nuse] which base, and how far from it
    int *variable;      ///< [nuse] the first use of the same value
    int *lead;          ///< [nslot] the first use of each
    int nslot;
    int *column; ///< [nliteral] parameter; -1: a number
    int ncolumn;
    int member; ///< its segments, in the order of their evaluation: member[member ...]
} lwi_kind;

/** How the segments of a pack find a base: side by side, the same one, or anywhere. */
typedef enum lwi_spread { LWI_SPREAD_ROW, LWI_SPREAD_SAME, LWI_SPREAD_ANY } lwi_spread;

enum { LWI_PACK_WIDEST = 8 };

/** Equal segments that do not depend on each other: one segment in lanes. */
typedef struct lwi_pack {
    int member, width; ///< segments: packed[member ...]
    int layout;
} lwi_pack;

/** Packs of a kind and width with the same spreads: one function. */
typedef struct lwi_pack_layout {
    int pack, count; ///< the first one; 0: it is not used
    int kind, width;
    lwi_spread *spread; ///< [nslot]
} lwi_pack_layout;

struct lwi_repeats {
    const lwi_codegen_graph *graph;
    lwi_arena *arena;
    lwi_repeats_limits limits;
    lwi_segment *segment;
    int nsegment;
    int *of, *position; ///< [nvertex] segment of a value, and where it is there
    int *live, *code, *use, *number, *check, *member;
    int nlive, ncode, nuse, nnumber, ncheck;
    int *seen;    ///< [nvertex] the last use of a value
    bool *begins; ///< [nvertex] a segment begins there
    lwi_shape *shape;
    int nshape;
    lwi_kind *kind;
    int nkind;
    int first[LWI_GRAPH_ARRAYS], count[LWI_GRAPH_ARRAYS]; ///< entries that are read
    int base[LWI_GRAPH_ARRAYS];
    int room;   ///< numbers in the array of values
    int *order; ///< [nsegment] of evaluation; those of a pack in turn
    lwi_pack *pack;
    int npack;
    int *packed;
    lwi_pack_layout *layout;
    int nlayout;
};

/** Where in the array of values a value or an input is. */
int lwi_repeats_address(const lwi_repeats *repeats, int value);
/** Bases, kinds and members, by the addresses of the values. */
lw_status lwi_repeats_kinds(lwi_repeats *repeats);
/** Member i of a kind, in the order of evaluation. */
const lwi_segment *lwi_repeats_member(const lwi_repeats *repeats, const lwi_kind *kind, int i);
/** Finds packs of up to `lanes` segments, changes addresses so that they are side by side, and orders the evaluation.
 *  @return LW_ERR_MEMORY */
lw_status lwi_repeats_pack(lwi_repeats *repeats, int lanes);

#endif
