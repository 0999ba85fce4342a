// bullet.cpp -- Bullet (double precision): computeAccelerationsArticulatedBodyAlgorithmMultiDof.
//
// The call advances the speeds by a step's acceleration; with a step of one second, and the speeds
// set before each call, the difference is the acceleration.
#include "driver.hpp"

#include <BulletDynamics/Featherstone/btMultiBody.h>

about peer_about()
{
    return {"bullet",
            std::to_string(btGetVersion() / 100) + "." + std::to_string(btGetVersion() % 100),
            "as packaged, double precision",
            {"aba"}};
}

namespace
{

btVector3 vec3(const double x[3])
{
    return btVector3(x[0], x[1], x[2]);
}

class bullet_peer : public peer
{
  public:
    explicit bullet_peer(const std::vector<scene_body> &body)
        : scene(body), base(body[0].joint == SCENE_FREE), links((int)body.size() - base),
          multi(links, base ? body[0].mass : 0, base ? vec3(body[0].inertia) : btVector3(0, 0, 0),
                !base, false)
    {
        for (int i = 0; i < links; i++) add(i, body[(size_t)(i + base)]);
        multi.finalizeMultiDof();
        multi.setLinearDamping(0);
        multi.setAngularDamping(0);
        multi.setMaxCoordinateVelocity(1e30);
        multi.setUseGyroTerm(true);
        multi.setHasSelfCollision(false);
    }
    void set(int copy, const double *q, const double *v, const double *tau) override
    {
        const size_t nv = (size_t)scene_dof(scene.data(), (int)scene.size());
        if (states.size() <= (size_t)copy) states.resize((size_t)copy + 1);
        states[(size_t)copy] = {{q, q + nv}, {v, v + nv}, {tau, tau + nv}};
    }
    void evaluate(int copy) override
    {
        const state &s = states[(size_t)copy];
        const btVector3 g(0, 0, -9.81);
        size_t at = 0;
        multi.clearForcesAndTorques();
        multi.clearVelocities();
        if (base) set_base(s), at = 6, multi.addBaseForce(multi.getBaseMass() * g);
        for (int i = 0; i < links; i++) {
            const int n = multi.getLink(i).m_dofCount;
            if (n == 1) multi.setJointPos(i, s.q[at]);
            multi.setJointVelMultiDof(i, &s.v[at]);
            multi.addJointTorqueMultiDof(i, &s.tau[at]);
            multi.addLinkForce(i, multi.getLinkMass(i) * g);
            at += (size_t)n;
        }
        now = copy;
        multi.computeAccelerationsArticulatedBodyAlgorithmMultiDof(1, r, v, m, false, false, false);
    }
    std::vector<double> accelerations() override
    {
        std::vector<double> a;
        size_t at = base ? 6 : 0;
        for (int i = 0; i < links; i++)
            for (int k = 0; k < multi.getLink(i).m_dofCount; k++)
                a.push_back(multi.getJointVelMultiDof(i)[k] - states[(size_t)now].v[at++]);
        return a;
    }

  private:
    struct state {
        std::vector<double> q, v, tau;
    };
    std::vector<scene_body> scene;
    int base, links;
    btMultiBody multi;
    int now = 0;
    std::vector<state> states;
    btAlignedObjectArray<btScalar> r;
    btAlignedObjectArray<btVector3> v;
    btAlignedObjectArray<btMatrix3x3> m;

    // Frames of links are at their mass centres.
    void add(int i, const scene_body &b)
    {
        const int parent = b.parent - base;
        const bool from_ground = b.parent < 0;
        const btVector3 pivot =
            vec3(b.at) - (from_ground ? btVector3(0, 0, 0) : vec3(scene[(size_t)b.parent].com));
        double q[4];
        scene_orientation(&b, q);
        const btQuaternion rotated(-q[1], -q[2], -q[3], q[0]); // from the parent's axes
        btVector3 axis(0, 0, 0);
        axis[b.axis] = 1;
        if (b.joint == SCENE_BALL)
            multi.setupSpherical(i, b.mass, vec3(b.inertia), parent, rotated, pivot, vec3(b.com),
                                 true);
        else
            multi.setupRevolute(i, b.mass, vec3(b.inertia), parent, rotated, axis, pivot,
                                vec3(b.com), true);
    }
    // Speeds and wrench of the pelvis at its joint frame, moved to its mass centre.
    void set_base(const state &s)
    {
        const btVector3 com = vec3(scene[0].com), turning = vec3(&s.v[3]), force = vec3(&s.tau[0]);
        multi.setBasePos(vec3(scene[0].at) + com);
        multi.setWorldToBaseRot(btQuaternion::getIdentity());
        multi.setBaseVel(vec3(&s.v[0]) + turning.cross(com));
        multi.setBaseOmega(turning);
        multi.addBaseForce(force);
        multi.addBaseTorque(vec3(&s.tau[3]) - com.cross(force));
    }
};

} // namespace

std::unique_ptr<peer> make_peer(const mechanism &m, const std::string &, std::string &)
{
    if (!m.loop.empty()) return nullptr; // held by the impulses of a time step there
    return std::make_unique<bullet_peer>(m.body);
}
