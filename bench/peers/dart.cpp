// dart.cpp -- DART: computeForwardDynamics after a change of state; its semi-implicit steps.
#include "driver.hpp"

#include <dart/config.hpp>
#include <dart/dynamics/BallJoint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>

using namespace dart::dynamics;

about peer_about()
{
    return {"dart", DART_VERSION, "as packaged", {"forward"}};
}

namespace
{

Eigen::Vector3d vec3(const double x[3])
{
    return {x[0], x[1], x[2]};
}

class dart_peer : public peer
{
  public:
    explicit dart_peer(const std::vector<scene_body> &body)
        : scene(body), skeleton(Skeleton::create("scene"))
    {
        for (const scene_body &b : body) nodes.push_back(add(b));
        skeleton->setGravity(Eigen::Vector3d(0, 0, -9.81));
    }
    void set(int copy, const double *q, const double *v, const double *tau) override
    {
        if (states.size() <= (size_t)copy) states.resize((size_t)copy + 1);
        state &s = states[(size_t)copy];
        const Eigen::Index nv = (Eigen::Index)skeleton->getNumDofs();
        s.q = s.v = s.tau = Eigen::VectorXd::Zero(nv);
        for (size_t i = 0, at = 0; i < scene.size(); at += scene[i++].joint) {
            const size_t n = scene[i].joint;
            // free: angular before linear
            for (size_t k = 0; k < n; k++) {
                const Eigen::Index to =
                    (Eigen::Index)nodes[i]->getParentJoint()->getIndexInSkeleton(k);
                const size_t from = at + (n == 6 ? (k + 3) % 6 : k);
                s.v[to] = v[from];
                s.tau[to] = tau[from];
                if (n == 1) s.q[to] = q[from];
            }
        }
    }
    void evaluate(int copy) override
    {
        const state &s = states[(size_t)copy];
        skeleton->setPositions(s.q);
        skeleton->setVelocities(s.v);
        skeleton->setForces(s.tau);
        skeleton->computeForwardDynamics();
    }
    std::vector<double> accelerations() override
    {
        std::vector<double> a;
        for (size_t i = 0; i < scene.size(); i++)
            for (size_t k = 0; scene[i].joint != SCENE_FREE && k < (size_t)scene[i].joint; k++)
                a.push_back(nodes[i]->getParentJoint()->getAcceleration(k));
        return a;
    }
    bool fall(fall_result &result) override
    {
        const double h = 0.001, start = stopwatch();
        energy_watch watch;
        evaluate(0);
        look(watch);
        for (int i = 1; i <= 10000; i++) { // what a World does without contacts
            skeleton->computeForwardDynamics();
            skeleton->integrateVelocities(h);
            skeleton->integratePositions(h);
            if (i % 100 == 0) look(watch);
        }
        const Eigen::Vector3d tip = nodes.back()->getTransform() * Eigen::Vector3d(1, 0, 0);
        result = watch.result(stopwatch() - start, tip.z());
        return true;
    }

  private:
    struct state {
        Eigen::VectorXd q, v, tau;
    };
    std::vector<scene_body> scene;
    SkeletonPtr skeleton;
    std::vector<BodyNode *> nodes;
    std::vector<state> states;

    void look(energy_watch &watch)
    {
        skeleton->setTimeStep(0.001);
        watch.look(skeleton->computeKineticEnergy(), skeleton->computePotentialEnergy());
    }
    template <class J> BodyNode *attach(const scene_body &b, typename J::Properties joint)
    {
        BodyNode::Properties node;
        node.mName = "b" + std::to_string(nodes.size());
        node.mInertia.setMass(b.mass);
        node.mInertia.setLocalCOM(vec3(b.com));
        node.mInertia.setMoment(vec3(b.inertia).asDiagonal());
        joint.mName = "j" + std::to_string(nodes.size());
        double q[4];
        scene_orientation(&b, q);
        joint.mT_ParentBodyToJoint.linear() = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).matrix();
        joint.mT_ParentBodyToJoint.translation() = vec3(b.at);
        BodyNode *parent = b.parent < 0 ? nullptr : nodes[(size_t)b.parent];
        return skeleton->createJointAndBodyNodePair<J>(parent, joint, node).second;
    }
    BodyNode *add(const scene_body &b)
    {
        if (b.joint == SCENE_FREE) return attach<FreeJoint>(b, FreeJoint::Properties());
        if (b.joint == SCENE_BALL) return attach<BallJoint>(b, BallJoint::Properties());
        RevoluteJoint::Properties p;
        p.mAxis = Eigen::Vector3d::Unit(b.axis);
        return attach<RevoluteJoint>(b, p);
    }
};

} // namespace

std::unique_ptr<peer> make_peer(const mechanism &m, const std::string &, std::string &)
{
    if (!m.loop.empty()) return nullptr; // held by the impulses of a time step there
    return std::make_unique<dart_peer>(m.body);
}
