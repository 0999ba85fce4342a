// merge.h -- a tree in which bodies on fixed joints are parts of their carriers.
//
// Speeds and coordinates stay; reactions of fixed joints and poses of merged bodies are lost.
#ifndef LWI_TREE_MERGE_H
#define LWI_TREE_MERGE_H

#include "model/model.h"

/** Is there a node to merge: on a fixed joint, not moved by a mount? */
bool lwi_tree_merges(const lw_model *model);
/** A view of `model` with other nodes and `joint[].node`, -1 of fixed joints; `body_node` is still that of `model`.
 *  @return LW_ERR_MEMORY */
lw_status lwi_tree_merge(const lw_model *model, lwi_arena *arena, lw_model *merged);

#endif
