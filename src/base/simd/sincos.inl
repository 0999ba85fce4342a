// sincos.inl -- sine and cosine of an angle, the same bits in every width, no branches.
//
// Cody and Waite: n = the integer nearest to 2x/pi; r + e = x - n pi/2 with pi/2 in four parts, the
// first three of 33 bits, so that their products with n are exact for |n| < 2^20.  Then the
// polynomials of fdlibm (Sun Microsystems, 1993) on |r| <= pi/4, error below one unit in the last
// place.  Angles beyond LWI_K_LARGEST_ANGLE are evaluated by the scalar functions.

static inline void NAME(sincos)(real x, real *sine, real *cosine)
{
#define C(x) NAME(splat)(x)
    const real shift = C(6755399441055744.0); // 1.5 2^52: leaves n in the lowest bits
    const real shifted = MAD(x, C(6.36619772367581382433e-01), shift), n = shifted - shift;
    const mask quadrant = NAME(bits)(shifted);

    // r + e = x - n pi/2: the second product is subtracted with its rounding error
    const real a = NMAD(n, C(1.57079632673412561417e+00), x);
    const real second = n * 6.07710050630396597660e-11;
    const real b = a - second;
    const real rest = MSUB(n, C(2.02226624871116645580e-21), (a - b) - second);
    const real r = b - rest;
    const real e = NMAD(n, C(8.47842766036889956997e-32), (b - r) - rest);

    const real z = r * r, half = 0.5 * z;
    real p = MAD(z, C(1.58969099521155010221e-10), C(-2.50507602534068634195e-08));
    p = MAD(z, p, C(2.75573137070700676789e-06));
    p = MAD(z, p, C(-1.98412698298579493134e-04));
    p = MAD(z, p, C(8.33333333332248946124e-03));
    const real v = z * r, u = NMAD(v, p, 0.5 * e);
    const real s = r - NMAD(v, C(-1.66666666666666324348e-01), MSUB(z, u, e));

    real low = MAD(z, C(2.48015872894767294178e-05), C(-1.38888888888741095749e-03));
    real high = MAD(z, C(-1.13596475577881948265e-11), C(2.08757232129817482790e-09));
    low = MAD(z, low, C(4.16666666666666019037e-02));
    high = MAD(z, high, C(-2.75573143513906633035e-07));
    const real w = z * z, one = 1 - half, tail = SUM2(z, low, w * w, high);
    const real c = one + (((1 - one) - half) + DIFF(z, tail, r, e));
#undef C

    // odd quadrants exchange the two; bit 1 of n is the sign of the sine, of n + 1 the cosine's
    const mask odd = -(quadrant & 1);
    const mask minus_s = -((quadrant >> 1) & 1) & INT64_MIN;
    const mask minus_c = -(((quadrant + 1) >> 1) & 1) & INT64_MIN;
    *sine = NAME(of_bits)(NAME(bits)(NAME(select)(odd, c, s)) ^ minus_s);
    *cosine = NAME(of_bits)(NAME(bits)(NAME(select)(odd, s, c)) ^ minus_c);
}
