// copies.inl -- entries of a few numbers, from arrays to a row of results; nothing is computed.
//
// Input: `count` entries of n numbers, from_step apart.  Output: the same, to_step apart.  Cost: two or three instructions
// for an entry of four numbers or fewer.

// Single numbers, side by side in front.
static INLINE void copy_numbers(const double *from, double *to, ptrdiff_t step, int count)
{
    for (; count >= 4; count -= 4, from += 4, to += 4 * step) {
        const row x = load_four(from);
        to[0] = x[0], to[step] = x[1], to[2 * step] = x[2], to[3 * step] = x[3];
    }
    for (; count > 0; count--, to += step) *to = *from++;
}

// Threes, upward: nothing is read behind the last one.
static INLINE void copy_threes(const double *from, ptrdiff_t from_step, double *to,
                               ptrdiff_t to_step, int count)
{
    for (; count > 4; count -= 4, from += 4 * from_step, to += 4 * to_step) {
        store_three(to, load_four(from));
        store_three(to + to_step, load_four(from + from_step));
        store_three(to + 2 * to_step, load_four(from + 2 * from_step));
        store_three(to + 3 * to_step, load_four(from + 3 * from_step));
    }
    for (; count > 0; count--, from += from_step, to += to_step) store_three(to, load_three(from));
}

static INLINE void copy_sixes(const double *from, ptrdiff_t from_step, double *to,
                              ptrdiff_t to_step, int count)
{
    for (; count > 0; count--, from += from_step, to += to_step) {
        store_four(to + 2, load_four(from + 2));
        store_four(to, load_four(from));
    }
}

static bool copy(const double *from, ptrdiff_t from_step, double *to, ptrdiff_t to_step, int n,
                 int count)
{
    if (from_step < n) return false; // downward, or one entry
    if (n == 1 && from_step == 1)
        copy_numbers(from, to, to_step, count);
    else if (n == 3)
        copy_threes(from, from_step, to, to_step, count);
    else if (n == 6)
        copy_sixes(from, from_step, to, to_step, count);
    else
        return false;
    return true;
}

// quat_continue, near what is in `to`
static void continue_quaternions(const double *from, ptrdiff_t from_step, double *to,
                                 ptrdiff_t to_step, int count)
{
    for (; count > 0; count--, from += from_step, to += to_step) {
        const row q = load_four(from), product = q * load_four(to);
        const double sum = product[0] + product[1] + product[2] + product[3];
        store_four(to, sum < 0 ? -q : q);
    }
}
