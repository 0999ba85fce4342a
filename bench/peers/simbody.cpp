// simbody.cpp -- Simbody: realize(Acceleration) after a change of state; its Runge-Kutta-Merson.
#include "driver.hpp"

#include <Simbody.h>

using namespace SimTK;

about peer_about()
{
    int major, minor, patch;
    SimTK_version_simbody(&major, &minor, &patch);
    return {"simbody",
            std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch),
            "as packaged",
            {"realize"}};
}

namespace
{

Vec3 vec3(const double x[3])
{
    return Vec3(x[0], x[1], x[2]);
}

// Pins turn about z of their frames.
Rotation axis_to_z(int axis)
{
    return axis == 0   ? Rotation(UnitVec3(1, 0, 0), ZAxis)
           : axis == 1 ? Rotation(UnitVec3(0, 1, 0), ZAxis)
                       : Rotation();
}

class simbody_peer : public peer
{
  public:
    explicit simbody_peer(const mechanism &m)
        : scene(m.body), matter(system), forces(system), gravity(forces, matter, vec3(m.gravity)),
          efforts(forces, matter)
    {
        for (const scene_body &b : m.body) mobod.push_back(add(b));
        for (const scene_loop &l : m.loop)
            Constraint::Ball(mobod[l.body[0]], vec3(l.at[0]), mobod[l.body[1]], vec3(l.at[1]));
        state = system.realizeTopology();
        system.realizeModel(state);
    }
    void set(int copy, const double *q, const double *v, const double *tau) override
    {
        if (states.size() <= (size_t)copy) states.resize((size_t)copy + 1);
        kept &s = states[(size_t)copy];
        s.q = state.getQ();
        s.u = Vector(state.getNU(), 0.0);
        s.tau = Vector(state.getNU(), 0.0);
        for (size_t i = 0, at = 0; i < scene.size(); at += scene[i++].joint) {
            const int u = mobod[i].getFirstUIndex(state), n = (int)scene[i].joint;
            // free: angular before linear
            for (int k = 0; k < n; k++) {
                const int from = (int)at + (n == 6 ? (k + 3) % 6 : k);
                s.u[u + k] = v[from];
                s.tau[u + k] = tau[from];
            }
            for (int k = 0; n <= 2 && k < n; k++)
                s.q[mobod[i].getFirstQIndex(state) + k] = q[at + k];
        }
    }
    void evaluate(int copy) override
    {
        const kept &s = states[(size_t)copy];
        state.updQ() = s.q;
        state.updU() = s.u;
        efforts.setAllMobilityForces(state, s.tau);
        system.realize(state, Stage::Acceleration);
    }
    std::vector<double> accelerations() override
    {
        std::vector<double> a;
        const Vector &udot = state.getUDot();
        for (size_t i = 0; i < scene.size(); i++) {
            const int u = mobod[i].getFirstUIndex(state), n = (int)scene[i].joint;
            for (int k = 0; n < 6 && k < n; k++) a.push_back(udot[u + k]);
        }
        return a;
    }
    bool fall(fall_result &result) override
    {
        const double start = stopwatch();
        energy_watch watch;
        evaluate(0);
        RungeKuttaMersonIntegrator integrator(system);
        integrator.setAccuracy(1e-3);
        integrator.initialize(state);
        for (int i = 0; i <= 100; i++) {
            while (integrator.getTime() < 0.1 * i) integrator.stepTo(0.1 * i);
            system.realize(integrator.getState(), Stage::Dynamics);
            watch.look(system.calcKineticEnergy(integrator.getState()),
                       system.calcPotentialEnergy(integrator.getState()));
        }
        const State &end = integrator.getState();
        result = watch.result(stopwatch() - start,
                              mobod.back().findStationLocationInGround(end, Vec3(1, 0, 0))[2]);
        return true;
    }

    std::vector<double> settings() override
    {
        return {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10};
    }
    void run(double time, double accuracy) override
    {
        const kept &s = states[0];
        state.updTime() = 0;
        state.updQ() = s.q;
        state.updU() = s.u;
        RungeKuttaMersonIntegrator integrator(system);
        integrator.setAccuracy(accuracy);
        integrator.initialize(state);
        while (integrator.getTime() < time) integrator.stepTo(time);
        end = integrator.getState();
    }
    std::vector<double> angles() override
    {
        std::vector<double> found;
        for (size_t i = 0; i < scene.size(); i++)
            for (int k = 0; scene[i].joint <= SCENE_UNIVERSAL && k < (int)scene[i].joint; k++)
                found.push_back(end.getQ()[mobod[i].getFirstQIndex(end) + k]);
        return found;
    }

  private:
    struct kept {
        Vector q, u, tau;
    };
    std::vector<scene_body> scene;
    MultibodySystem system;
    SimbodyMatterSubsystem matter;
    GeneralForceSubsystem forces;
    Force::UniformGravity gravity;
    Force::DiscreteForces efforts;
    std::vector<MobilizedBody> mobod;
    State state, end;
    std::vector<kept> states;

    MobilizedBody add(const scene_body &b)
    {
        MobilizedBody parent = b.parent < 0 ? MobilizedBody(matter.updGround()) : mobod[b.parent];
        const Vec3 com = vec3(b.com);
        const Inertia central(vec3(b.inertia));
        const Body::Rigid rigid(
            MassProperties(b.mass, com, central.shiftFromMassCenter(com, b.mass)));
        const Rotation axes = axis_to_z(b.axis);
        double q[4];
        scene_orientation(&b, q);
        const Rotation turn(SimTK::Quaternion(q[0], q[1], q[2], q[3]));
        const Transform at(turn, vec3(b.at));
        if (b.joint == SCENE_FREE) return MobilizedBody::Free(parent, at, rigid, Transform());
        if (b.joint == SCENE_UNIVERSAL)
            return MobilizedBody::Universal(parent, at, rigid, Transform());
        if (b.joint == SCENE_BALL) return MobilizedBody::Ball(parent, at, rigid, Transform());
        return MobilizedBody::Pin(parent, Transform(turn * axes, vec3(b.at)), rigid,
                                  Transform(axes));
    }
};

} // namespace

std::unique_ptr<peer> make_peer(const mechanism &m, const std::string &, std::string &)
{
    return std::make_unique<simbody_peer>(m);
}
