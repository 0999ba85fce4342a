// pair.hpp -- base/pair.h for the counting number type: an operation of a pair counts as two.
#ifndef LWI_BASE_PAIR_H // in place of base/pair.h
#define LWI_BASE_PAIR_H

#include "number.hpp"

#include <cstring>

struct lwi_pair {
    number x[2];
    number operator[](int i) const { return x[i]; }
};

inline lwi_pair operator+(lwi_pair a, lwi_pair b)
{
    return {{a.x[0] + b.x[0], a.x[1] + b.x[1]}};
}
inline lwi_pair operator*(lwi_pair a, lwi_pair b)
{
    return {{a.x[0] * b.x[0], a.x[1] * b.x[1]}};
}
inline lwi_pair operator*(number a, lwi_pair b)
{
    return lwi_pair{{a, a}} * b;
}

inline lwi_pair lwi_pair_load(const number *p)
{
    return {{p[0], p[1]}};
}
inline void lwi_pair_store(number *p, lwi_pair x)
{
    p[0] = x.x[0], p[1] = x.x[1];
}

#endif
