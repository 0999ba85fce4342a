// mujoco.cpp -- MuJoCo: mj_forward without contacts, and without constraints where there are no loops; its
// own rk4.
//
// mj_forward also computes what accelerations do not need; it is the call a user has.  Loops are soft:
// accelerations are not those of joints that hold, by design.
#include "driver.hpp"

#include <mujoco/mujoco.h>

#include <cmath>
#include <stdexcept>

about peer_about()
{
    return {"mujoco", mj_versionString(), "as packaged", {"forward", "forward-soft"}};
}

namespace
{

struct spec_deleter {
    void operator()(mjSpec *s) const { mj_deleteSpec(s); }
};
struct model_deleter {
    void operator()(mjModel *m) const { mj_deleteModel(m); }
};
struct data_deleter {
    void operator()(mjData *d) const { mj_deleteData(d); }
};

void copy3(double *to, const double *from)
{
    for (int i = 0; i < 3; i++) to[i] = from[i];
}

void hinge(mjsBody *body, mjtJoint type, int axis)
{
    mjsJoint *joint = mjs_addJoint(body, nullptr);
    joint->type = type;
    for (int i = 0; i < 3; i++) joint->axis[i] = i == axis;
}

mjsBody *add(const scene_body &b, int number, mjsBody *parent)
{
    mjsBody *body = mjs_addBody(parent, nullptr);
    mjs_setName(body->element, ("b" + std::to_string(number)).c_str());
    copy3(body->pos, b.at);
    scene_orientation(&b, body->quat);
    body->mass = b.mass;
    copy3(body->ipos, b.com);
    copy3(body->inertia, b.inertia);
    body->explicitinertial = 1;
    if (b.joint == SCENE_UNIVERSAL) hinge(body, mjJNT_HINGE, 0);
    hinge(body,
          b.joint == SCENE_FREE   ? mjJNT_FREE
          : b.joint == SCENE_BALL ? mjJNT_BALL
                                  : mjJNT_HINGE,
          b.joint == SCENE_UNIVERSAL ? 1 : b.axis);
    return body;
}

// A point of one body on a point of another.  It is where it is at q = 0, where all loops are closed.
void connect(mjSpec *spec, const scene_loop &l)
{
    mjsEquality *e = mjs_addEquality(spec, nullptr);
    e->type = mjEQ_CONNECT;
    e->objtype = mjOBJ_BODY;
    mjs_setString(e->name1, ("b" + std::to_string(l.body[0])).c_str());
    mjs_setString(e->name2, ("b" + std::to_string(l.body[1])).c_str());
    copy3(e->data, l.at[0]);
}

std::unique_ptr<mjModel, model_deleter> build(const mechanism &m)
{
    std::unique_ptr<mjSpec, spec_deleter> spec(mj_makeSpec());
    std::vector<mjsBody *> made;
    for (const scene_body &b : m.body)
        made.push_back(
            add(b, (int)made.size(),
                b.parent < 0 ? mjs_findBody(spec.get(), "world") : made[(size_t)b.parent]));
    for (const scene_loop &l : m.loop) connect(spec.get(), l);
    copy3(spec->option.gravity, m.gravity);
    spec->option.disableflags = mjDSBL_CONTACT | mjDSBL_WARMSTART;
    if (m.loop.empty()) spec->option.disableflags |= mjDSBL_CONSTRAINT;
    spec->option.tolerance = 1e-12;
    spec->option.timestep = 0.005;
    spec->option.integrator = mjINT_RK4;
    std::unique_ptr<mjModel, model_deleter> model(mj_compile(spec.get(), nullptr));
    if (!model) throw std::runtime_error(mjs_getError(spec.get()));
    return model;
}

class mujoco_peer : public peer
{
  public:
    explicit mujoco_peer(const mechanism &m)
        : body(m.body), model(build(m)), data(mj_makeData(model.get()))
    {
        for (size_t i = 0; i < body.size(); i++) {
            const int id = mj_name2id(model.get(), mjOBJ_BODY, ("b" + std::to_string(i)).c_str());
            joint.push_back(model->body_jntadr[id]);
        }
    }
    void set(int copy, const double *q, const double *v, const double *tau) override
    {
        if (states.size() <= (size_t)copy) states.resize((size_t)copy + 1);
        state &s = states[(size_t)copy];
        s.q.assign(model->qpos0, model->qpos0 + model->nq);
        s.v.resize((size_t)model->nv);
        s.tau.resize((size_t)model->nv);
        for (size_t i = 0, at = 0; i < body.size(); at += body[i++].joint) {
            for (int k = 0; k < (int)body[i].joint; k++) {
                const size_t to = (size_t)(model->jnt_dofadr[joint[i]] + k);
                s.v[to] = v[at + k];
                s.tau[to] = tau[at + k];
            }
            for (int k = 0; body[i].joint <= SCENE_UNIVERSAL && k < (int)body[i].joint; k++)
                s.q[(size_t)model->jnt_qposadr[joint[i] + k]] = q[at + k];
        }
    }
    void evaluate(int copy) override
    {
        const state &s = states[(size_t)copy];
        mju_copy(data->qpos, s.q.data(), model->nq);
        mju_copy(data->qvel, s.v.data(), model->nv);
        mju_copy(data->qfrc_applied, s.tau.data(), model->nv);
        mj_forward(model.get(), data.get());
    }
    std::vector<double> accelerations() override
    {
        std::vector<double> found;
        for (size_t i = 0; i < body.size(); i++)
            for (int k = 0; body[i].joint != SCENE_FREE && k < (int)body[i].joint; k++)
                found.push_back(data->qacc[model->jnt_dofadr[joint[i]] + k]);
        return found;
    }
    std::vector<double> settings() override { return equal_steps(); }
    void run(double time, double h) override
    {
        const state &s = states[0];
        const int n = (int)std::lround(time / h);
        model->opt.timestep = time / n;
        stiffen(2 * time / n);
        mj_resetData(model.get(), data.get());
        mju_copy(data->qpos, s.q.data(), model->nq);
        mju_copy(data->qvel, s.v.data(), model->nv);
        for (int i = 0; i < n; i++) mj_step(model.get(), data.get());
    }
    std::vector<double> angles() override
    {
        std::vector<double> found;
        for (size_t i = 0; i < body.size(); i++)
            for (int k = 0; body[i].joint <= SCENE_UNIVERSAL && k < (int)body[i].joint; k++)
                found.push_back(data->qpos[model->jnt_qposadr[joint[i] + k]]);
        return found;
    }
    bool fall(fall_result &result) override
    {
        const double start = stopwatch();
        energy_watch watch;
        evaluate(0);
        look(watch);
        for (int i = 1; i <= 2000; i++) {
            mj_step(model.get(), data.get());
            if (i % 20 == 0) mj_forward(model.get(), data.get()), look(watch);
        }
        const int last = (int)model->nbody - 1;
        result =
            watch.result(stopwatch() - start, data->xpos[3 * last + 2] + data->xmat[9 * last + 6]);
        return true;
    }

  private:
    struct state {
        std::vector<double> q, v, tau;
    };
    std::vector<scene_body> body;
    std::vector<int> joint; ///< the first one of each body: MuJoCo's order is depth first
    std::unique_ptr<mjModel, model_deleter> model;
    std::unique_ptr<mjData, data_deleter> data;
    std::vector<state> states;

    // Loops that give way as little as the step admits: the shortest time constant [s], the largest impedance.
    void stiffen(double constant)
    {
        for (int i = 0; i < model->neq; i++) {
            model->eq_solref[i * mjNREF] = constant;
            for (int k = 0; k < 2; k++) model->eq_solimp[i * mjNIMP + k] = 0.9999;
        }
    }
    void look(energy_watch &watch)
    {
        mj_energyPos(model.get(), data.get());
        mj_energyVel(model.get(), data.get());
        watch.look(data->energy[1], data->energy[0]);
    }
};

} // namespace

std::unique_ptr<peer> make_peer(const mechanism &m, const std::string &method, std::string &)
{
    if ((method == "forward-soft") == m.loop.empty()) return nullptr;
    return std::make_unique<mujoco_peer>(m);
}
