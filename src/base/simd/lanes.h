// lanes.h -- storage of the SIMD kernels: blocks of LWI_LANES doubles, for any width of the machine.
#ifndef LWI_BASE_SIMD_LANES_H
#define LWI_BASE_SIMD_LANES_H

/** Lanes of a block: width 8 works on it at once, width 4 in two halves, width 1 in eight. */
enum { LWI_LANES = 8 };

/** One entry of a block, aligned to 64 bytes. */
typedef double lwi_lanes[LWI_LANES];

#endif
