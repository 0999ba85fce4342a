// number.hpp -- a number type with the memory layout of double that counts its operations.
#ifndef BENCH_OPS_NUMBER_HPP
#define BENCH_OPS_NUMBER_HPP

#include <type_traits>

struct operations {
    long multiplications, additions, divisions;
};
extern operations counted;

typedef double plain;

template <class T> using if_number = std::enable_if_t<std::is_arithmetic_v<T>>;

// Has the size and layout of a double.
struct number {
    plain x;
    number() = default;
    template <class T, class = if_number<T>> constexpr number(T value) : x((plain)value) {}
    template <class T, class = std::enable_if_t<std::is_same_v<T, plain>>> operator T() const
    {
        return x;
    }
    number operator-() const { return number(-x); }
};
#define COUNTED(op, counter)                                                                       \
    inline number operator op(number a, number b)                                                  \
    {                                                                                              \
        return counter++, number(a.x op b.x);                                                      \
    }                                                                                              \
    template <class T, class = if_number<T>> inline number operator op(T a, number b)              \
    {                                                                                              \
        return number(a) op b;                                                                     \
    }                                                                                              \
    template <class T, class = if_number<T>> inline number operator op(number a, T b)              \
    {                                                                                              \
        return a op number(b);                                                                     \
    }                                                                                              \
    template <class T> inline number &operator op##=(number &a, T b)                               \
    {                                                                                              \
        return a = a op number(b);                                                                 \
    }
COUNTED(*, counted.multiplications)
COUNTED(+, counted.additions)
COUNTED(-, counted.additions)
COUNTED(/, counted.divisions)

#define COMPARED(op)                                                                               \
    inline bool operator op(number a, number b)                                                    \
    {                                                                                              \
        return a.x op b.x;                                                                         \
    }                                                                                              \
    template <class T, class = if_number<T>> inline bool operator op(number a, T b)                \
    {                                                                                              \
        return a.x op(plain) b;                                                                    \
    }                                                                                              \
    template <class T, class = if_number<T>> inline bool operator op(T a, number b)                \
    {                                                                                              \
        return (plain)a op b.x;                                                                    \
    }
COMPARED(<)
COMPARED(>)
COMPARED(<=)
COMPARED(>=)
COMPARED(==)
COMPARED(!=)

#endif
