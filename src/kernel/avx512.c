// avx512.c -- the kernels, 8 lanes wide.
#define ISA avx512
#define WIDEST 8
#include "kernel/kernels.inl"
