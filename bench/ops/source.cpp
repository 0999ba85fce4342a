// source.cpp -- compiles a source of the library, LW_SOURCE, with a counting number type for `double`.
//
// Its functions have the names and calling conventions of the library's and replace them at link time.
#include <cfloat>
#include <cmath>
#include <complex.h>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <math.h>

#include "number.hpp"
#include "pair.hpp"

#define double number
extern "C" {
#include LW_SOURCE
}
