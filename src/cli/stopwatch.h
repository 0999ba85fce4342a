// stopwatch.h -- how long one evaluation takes: the same procedure for the program and its peers.
//
// CPU time of this thread, which preemption on a shared machine does not disturb.  From a warmed
// state, in samples of at least a millisecond; minimum and median of the samples count.
#ifndef LWI_CLI_STOPWATCH_H
#define LWI_CLI_STOPWATCH_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct timing {
    int samples;
    double min, median; ///< of one evaluation [s]
} timing;

/** CPU time of this thread [s]. */
double stopwatch(void);
/** Time that passes, for work that several threads share [s]. */
double stopwatch_wall(void);
/** Processor time of processes that this one has started and that have ended [s], to some hundredths. */
double stopwatch_children(void);
/** Times evaluate(work), which returns 0 while all is well.
 *  @param seconds  to spend, at least five samples    @param samples  how many; 0: as time allows,
 *                  at most 200
 *  @return the first value that was not 0 */
int stopwatch_measure(int (*evaluate)(void *work), void *work, double seconds, int samples,
                      timing *result);
/** The same by another clock. */
int stopwatch_measure_by(double (*clock)(void), int (*evaluate)(void *work), void *work,
                         double seconds, int samples, timing *result);

#ifdef __cplusplus
}
#endif
#endif
