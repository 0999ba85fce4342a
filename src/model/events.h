// events.h -- events of a model: their conditions as numbers that cross zero, and their times.
#ifndef LWI_MODEL_EVENTS_H
#define LWI_MODEL_EVENTS_H

#include "model/model.h"

/** What an event waits for. */
typedef struct lwi_event {
    lw_signal when; ///< index 0: given times
    const lwi_formula
        *formula; ///< in place of `when`: its comparisons as differences; NULL: the signal itself
    bool rising, falling; ///< which crossings count
    const char *action;   ///< "set u, record, stop"
} lwi_event;

/** Replaces strings and lists by copies; false: no memory. */
bool lwi_event_desc_copy(lwi_arena *arena, lw_event_desc *desc);
/** Fills model->event; after the formulas. */
lw_status lwi_compile_events(lw_model *model, lw_error *error);
/** Positive where the condition of event i holds, negative where it does not. */
double lwi_event_guard(const lw_model *model, int i, const lwi_now *now);
/** Positive where relay i of model->relay has to change. */
double lwi_relay_guard(const lw_model *model, int i, const lwi_now *now);
/** Must steps end at events, or where relays change? */
static inline bool lwi_has_events(const lw_model *model)
{
    return model->desc.nevent + model->nrelay > 0;
}
/** The first time of event i after t, or at t if `now`; INFINITY: none. */
double lwi_event_time(const lw_model *model, int i, double t, bool now);

#endif
