// angle.inl -- the angle of a vector (x, y), the same bits in every width, no branches.
//
// u is the quotient of the smaller and the larger of |x| and |y|, a tangent; above tan(pi/8) it becomes the tangent of that
// angle less pi/4.  For |u| <= 7/16 the arc tangent is the polynomial of fdlibm (Sun Microsystems, 1993).  Error of some units
// in the last place.  A vector of zeros has the angle pi.

static inline real NAME(angle)(real y, real x)
{
#define C(x) NAME(splat)(x)
    const real width = NAME(absolute)(x), height = NAME(absolute)(y);
    const mask flat = NAME(at_most)(height, width);
    const real large = NAME(select)(flat, width, height), small = NAME(select)(flat, height, width);
    const mask near = NAME(at_most)(small, large * 4.14213562373095048802e-01); // tan(pi/8)
    const real num = NAME(select)(near, small, small - large);
    const real den = NAME(select)(near, large, small + large);
    const real u = num / NAME(select)(NAME(at_most)(den, ZERO), C(1), den);

    const real z = u * u, w = z * z;
    real even = MAD(w, C(1.62858201153657823623e-02), C(4.97687799461593236017e-02));
    real uneven = MAD(w, C(-3.65315727442169155270e-02), C(-5.83357013379057348645e-02));
    even = MAD(w, even, C(6.66107313738753120669e-02));
    uneven = MAD(w, uneven, C(-7.69187620504482999495e-02));
    even = MAD(w, even, C(9.09088713343650656196e-02));
    uneven = MAD(w, uneven, C(-1.11111104054623557880e-01));
    even = MAD(w, even, C(1.42857142725034663711e-01));
    uneven = MAD(w, uneven, C(-1.99999999998764832476e-01));
    even = MAD(w, even, C(3.33333333333329318027e-01));
    const real tail = u * SUM2(z, even, w, uneven);

    // pi/4, pi/2 and pi in two parts
    const real low = NAME(select)(near, ZERO, C(3.06161699786838301793e-17));
    const real high = NAME(select)(near, ZERO, C(7.85398163397448278999e-01));
    real angle = high - ((tail - low) - u);
    const real beyond = C(1.57079632679489655800e+00) - (angle - 6.12323399573676603587e-17);
    angle = NAME(select)(flat, angle, beyond);
    const real back = C(3.14159265358979311600e+00) - (angle - 1.22464679914735317720e-16);
    angle = NAME(select)(NAME(at_most)(x, ZERO), back, angle);
#undef C
    return NAME(of_bits)(NAME(bits)(angle) | (NAME(bits)(y) & INT64_MIN));
}
