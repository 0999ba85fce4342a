// pinocchio.cpp -- Pinocchio: articulated bodies in local or world axes; rk4 around them.  Loops: points
// that coincide, three equations each, by `constraintDynamics` (sparse Cholesky of the whole) and by
// `lcaba` (articulated bodies with loops).
//
// Header-only, so that its templates are compiled here with the flags of this build: Pinocchio's
// time is its C++'s, not that of its Python module.
#include "driver.hpp"

#include <pinocchio/config.hpp>

#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>

#include <cmath>

namespace pin = pinocchio;
using Eigen::VectorXd;

about peer_about()
{
    return {"pinocchio",
            PINOCCHIO_VERSION,
            PEERS_FLAGS,
            {"aba-local", "aba-world", "proximal", "lcaba"}};
}

namespace
{

Eigen::Vector3d vec3(const double x[3])
{
    return {x[0], x[1], x[2]};
}

pin::JointModel joint_of(const scene_body &b)
{
    if (b.joint == SCENE_FREE) return pin::JointModelFreeFlyer();
    if (b.joint == SCENE_BALL) return pin::JointModelSpherical();
    if (b.joint == SCENE_UNIVERSAL)
        return pin::JointModelUniversal(Eigen::Vector3d::UnitX(), Eigen::Vector3d::UnitY());
    if (b.axis == 0) return pin::JointModelRX();
    if (b.axis == 1) return pin::JointModelRY();
    return pin::JointModelRZ();
}

pin::Model build(const mechanism &m)
{
    pin::Model model;
    model.gravity.linear() = vec3(m.gravity);
    for (const scene_body &b : m.body) {
        double turn[4];
        scene_orientation(&b, turn);
        const pin::SE3 at(Eigen::Quaterniond(turn[0], turn[1], turn[2], turn[3]), vec3(b.at));
        const auto id = model.addJoint((pin::JointIndex)(b.parent + 1), joint_of(b), at,
                                       "j" + std::to_string(model.njoints));
        const Eigen::Matrix3d inertia = vec3(b.inertia).asDiagonal();
        model.appendBodyToJoint(id, pin::Inertia(b.mass, vec3(b.com), inertia));
    }
    return model;
}

class pinocchio_peer : public peer
{
  public:
    pinocchio_peer(const mechanism &m, const std::string &method)
        : body(m.body), method(method), model(build(m)), data(model)
    {
        for (const scene_loop &l : m.loop) {
            const auto place = [&](int i) {
                return pin::SE3(Eigen::Matrix3d::Identity(), vec3(l.at[i]));
            };
            rows.emplace_back(pin::CONTACT_3D, model, (pin::JointIndex)(l.body[0] + 1), place(0),
                              (pin::JointIndex)(l.body[1] + 1), place(1), pin::LOCAL);
        }
        for (const auto &row : rows) row_data.emplace_back(row);
        if (method == "proximal") pin::initConstraintDynamics(model, data, rows, row_data);
        if (method == "lcaba") pin::computeJointMinimalOrdering(model, data, rows);
    }
    void set(int copy, const double *q, const double *v, const double *tau) override
    {
        const size_t size = (size_t)copy + 1;
        if (states.size() < size) states.resize(size);
        state &s = states[copy];
        s.q = pin::neutral(model);
        s.v = Eigen::Map<const VectorXd>(v, model.nv);
        s.tau = Eigen::Map<const VectorXd>(tau, model.nv);
        for (size_t i = 0, at = 0; i < body.size(); at += body[i++].joint)
            for (int k = 0; body[i].joint <= SCENE_UNIVERSAL && k < (int)body[i].joint; k++)
                s.q[model.joints[i + 1].idx_q() + k] = q[at + k];
    }
    void evaluate(int copy) override
    {
        const state &s = states[copy];
        if (rows.empty())
            aba(s.q, s.v, s.tau);
        else
            closed(s);
    }
    std::vector<double> accelerations() override
    {
        const int from = body[0].joint == SCENE_FREE ? 6 : 0;
        return std::vector<double>(data.ddq.data() + from, data.ddq.data() + model.nv);
    }
    bool fall(fall_result &result) override;
    std::vector<double> settings() override { return equal_steps(); }
    void run(double time, double h) override
    {
        const int n = (int)std::lround(time / h);
        end = states[0];
        for (int i = 0; i < n; i++) step(time / n, end);
    }
    std::vector<double> angles() override
    {
        std::vector<double> found;
        for (size_t i = 0; i < body.size(); i++)
            for (int k = 0; body[i].joint <= SCENE_UNIVERSAL && k < (int)body[i].joint; k++)
                found.push_back(end.q[model.joints[i + 1].idx_q() + k]);
        return found;
    }

  private:
    struct state {
        VectorXd q, v, tau;
    };
    std::vector<scene_body> body;
    std::string method;
    pin::Model model;
    pin::Data data;
    std::vector<state> states;
    state end;
    PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintModel) rows;
    PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintData) row_data;

    // Tighter accuracies change no digit, smaller mu costs lcaba digits (README.md).
    void closed(const state &s)
    {
        pin::ProximalSettings settings(1e-8, 1e-6, 20);
        if (method == "lcaba")
            pin::lcaba(model, data, s.q, s.v, s.tau, rows, row_data, settings);
        else
            pin::constraintDynamics(model, data, s.q, s.v, s.tau, rows, row_data, settings);
    }
    const VectorXd &aba(const VectorXd &q, const VectorXd &v, const VectorXd &tau)
    {
        return pin::aba(model, data, q, v, tau,
                        method == "aba-local" ? pin::Convention::LOCAL : pin::Convention::WORLD);
    }
    const VectorXd &accelerate(const VectorXd &q, const VectorXd &v, const VectorXd &tau)
    {
        if (rows.empty()) return aba(q, v, tau);
        closed({q, v, tau});
        return data.ddq;
    }
    void step(double h, state &s);
    void look(energy_watch &watch, const state &s)
    {
        watch.look(pin::computeKineticEnergy(model, data, s.q, s.v),
                   pin::computePotentialEnergy(model, data, s.q));
    }
};

void pinocchio_peer::step(double h, state &s)
{
    const VectorXd v1 = s.v, a1 = accelerate(s.q, v1, s.tau);
    const VectorXd v2 = s.v + h / 2 * a1,
                   a2 = accelerate(pin::integrate(model, s.q, h / 2 * v1), v2, s.tau);
    const VectorXd v3 = s.v + h / 2 * a2,
                   a3 = accelerate(pin::integrate(model, s.q, h / 2 * v2), v3, s.tau);
    const VectorXd v4 = s.v + h * a3,
                   a4 = accelerate(pin::integrate(model, s.q, h * v3), v4, s.tau);
    s.q = pin::integrate(model, s.q, h / 6 * (v1 + 2 * v2 + 2 * v3 + v4));
    s.v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
}

bool pinocchio_peer::fall(fall_result &result)
{
    const double h = 0.005, start = stopwatch();
    energy_watch watch;
    state s = states[0];
    look(watch, s);
    for (int i = 1; i <= 2000; i++) {
        step(h, s);
        if (i % 20 == 0) look(watch, s);
    }
    pin::forwardKinematics(model, data, s.q);
    result = watch.result(stopwatch() - start, data.oMi.back().act(Eigen::Vector3d(1, 0, 0)).z());
    return true;
}

} // namespace

std::unique_ptr<peer> make_peer(const mechanism &m, const std::string &method, std::string &)
{
    const bool of_trees = method == "aba-local" || method == "aba-world";
    if (of_trees != m.loop.empty()) return nullptr;
    return std::make_unique<pinocchio_peer>(m, method);
}
