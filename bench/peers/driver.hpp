// driver.hpp -- what the drivers of other libraries share: cases, states, timing, output.
//
// A driver is one program per library.  It defines peer_about() and make_peer(); driver.cpp has the
// rest: `peer_NAME [--case A,B,...] [--seconds S] [--samples N]` times the cases it is asked for
// and prints JSON of the same form as `linkwork bench --json`.
//
// The mechanisms come from Linkwork's own src/cli/scenes.c, the timing from its stopwatch.c, so
// everybody is asked the same question and timed by the same clock.
#ifndef PEERS_DRIVER_HPP
#define PEERS_DRIVER_HPP

#include "cli/scenes.h"
#include "cli/stopwatch.h"

#include <memory>
#include <string>
#include <vector>

struct about {
    std::string name, version, flags; ///< flags of the library's own build where it was built here
    std::vector<std::string> methods;
};

struct fall_result {
    double seconds;      ///< CPU time
    double energy_error; ///< largest |E - E0| over the largest kinetic energy
    double tip;          ///< height of the free end at last [m]
};

struct mechanism {
    std::vector<scene_body> body;
    std::vector<scene_loop> loop;
    double gravity[3];
};

/** One library's model of one scene.  Numbers in the scene's order, `nv` of each. */
class peer
{
  public:
    virtual ~peer() {}
    /** Keeps a state, in the library's own order, as number `copy`. */
    virtual void set(int copy, const double *q, const double *v, const double *tau) = 0;
    /** Accelerations at state `copy`: this is what is timed. */
    virtual void evaluate(int copy) = 0;
    /** Those of the last evaluation, without a free base's. */
    virtual std::vector<double> accelerations() = 0;
    /** Ten seconds from state 0, energies taken every 0.1 s; false: this library does not do it. */
    virtual bool fall(fall_result &) { return false; }
    /** What runs are tried with: lengths of equal steps [s] or accuracies; none: this library does not do it. */
    virtual std::vector<double> settings() { return {}; }
    /** Moves from state 0 without efforts for so long [s]: this is what is timed. */
    virtual void run(double, double) {}
    /** Angles of hinges and universal joints after the last run, in the scene's order. */
    virtual std::vector<double> angles() { return {}; }
};

/** Watches the energy of a fall. */
class energy_watch
{
  public:
    void look(double kinetic, double potential);
    fall_result result(double seconds, double tip) const;

  private:
    bool started = false;
    double first = 0, drift = 0, kinetic_ = 0;
};

/** Lengths of equal steps [s]. */
std::vector<double> equal_steps();

about peer_about();
/** nullptr where the method is not for such mechanisms, or where the library cannot, with the reason. */
std::unique_ptr<peer> make_peer(const mechanism &m, const std::string &method, std::string &reason);

/** Index of the first degree of freedom of each body in the scene's order. */
std::vector<int> first_freedoms(const std::vector<scene_body> &body);

#endif
