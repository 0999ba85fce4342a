// components.h -- connected components (union-find): an item names another one of its component; the one that names
// itself stands for the component.
#ifndef LWI_BASE_COMPONENTS_H
#define LWI_BASE_COMPONENTS_H

/** The item that stands for the component of item `i`; shortens the way there.
 *  `of[lwi_component_of(of, i)] = lwi_component_of(of, k)` joins two components.
 *  @param of  [in, out] [items]; at the start of[i] = i for all of them */
static inline int lwi_component_of(int *of, int i)
{
    while (of[i] != i) i = of[i] = of[of[i]];
    return i;
}

#endif
