// calls.h -- what a compiled model exports: one table, declared here and in the compiled C by the same macro.
#ifndef LWI_COMPILED_CALLS_H
#define LWI_COMPILED_CALLS_H

/** Of the table below; a part of the key in the cache. */
#define LWI_CALLS_VERSION 8
#define LWI_CALLS_SYMBOL "lwi_calls_of_model"

// angles: number of those of joints that close loops.
// rates: angle [angles] out, or NULL; consistent [nv] out, or NULL: the speeds at which the rates are, of which the
// dependent ones follow from the others; power [1] out, or NULL: the rate of the work of forces and
// prescribed motions, if the model `works`.
// rates_lanes: of `lanes` states, x[entry * stride + lane]; returns the lanes that failed, one bit each.
// Those of many states return 1 if one failed, and mark it in failed [n], if not NULL.  margin: how far
// from singular positions, 0 there (sine squared, or relative length of a lever arm); `margins` numbers of which it is the
// smallest; joint, if not NULL: the joint that closes its loop, NULL where it is 1.  timed: positions depend on time.  project leaves q and v of states that fail as they are.  Other functions
// return 0, or a number that says what failed.
// The functions of derivatives are NULL where derivatives were not requested, those of inverse dynamics also with loops.
// by_q, by_v, by_tau, M: [nv][nv], row by row.
#define LWI_CALLS(X)                                                                               \
    X(typedef struct lwi_calls {                                                                   \
        int version, nq, nv, nx, nu, lanes, angles, timed, margins, works;                         \
        int (*forward)(const double *q, const double *v, const double *tau, double *vdot);         \
        int (*rates)(double t, const double *q, const double *v, const double *x, const double *u, \
                     double *qdot, double *vdot, double *xdot, double *consistent, double *angle,  \
                     double *power);                                                               \
        unsigned (*rates_lanes)(int stride, const double *t, const double *q, const double *v,     \
                                const double *x, const double *const *u, double *qdot,             \
                                double *vdot, double *xdot, double *angle, double *power);         \
        int (*project)(double t, double *q, double *v);                                            \
        double (*margin)(double t, const double *q, const char **joint);                           \
        int (*forward_many)(int n, const double *q, const double *v, const double *tau,            \
                            double *vdot, unsigned char *failed);                                  \
        int (*rates_many)(int n, const double *t, const double *q, const double *v,                \
                          const double *x, const double *u, double *qdot, double *vdot,            \
                          double *xdot, unsigned char *failed);                                    \
        int (*project_many)(int n, const double *t, double *q, double *v, unsigned char *failed);  \
        int (*forward_derivatives)(double t, const double *q, const double *v, const double *x,    \
                                   const double *tau, const double *u, double *vdot, double *by_q, \
                                   double *by_v, double *by_tau);                                  \
        int (*inverse_derivatives)(double t, const double *q, const double *v, const double *x,    \
                                   const double *vdot, const double *u, double *by_q,              \
                                   double *by_v, double *M);                                       \
        int (*forward_derivatives_many)(int n, const double *t, const double *q, const double *v,  \
                                        const double *x, const double *tau, const double *u,       \
                                        double *vdot, double *by_q, double *by_v, double *by_tau,  \
                                        unsigned char *failed);                                    \
        int (*inverse_derivatives_many)(int n, const double *t, const double *q, const double *v,  \
                                        const double *x, const double *vdot, const double *u,      \
                                        double *by_q, double *by_v, double *M,                     \
                                        unsigned char *failed);                                    \
    } lwi_calls;)

#define LWI_CALLS_DECLARED(...) __VA_ARGS__
#define LWI_CALLS_LETTERS_(...) #__VA_ARGS__
#define LWI_CALLS_LETTERS LWI_CALLS(LWI_CALLS_LETTERS_)

LWI_CALLS(LWI_CALLS_DECLARED)

#endif
