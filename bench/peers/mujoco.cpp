// mujoco.cpp -- MuJoCo: mj_forward without contacts and constraints; its own rk4.
//
// mj_forward also computes what accelerations do not need; it is the call a user has.
#include "driver.hpp"

#include <mujoco/mujoco.h>

#include <stdexcept>

about peer_about()
{
    return {"mujoco", mj_versionString(), "as packaged", {"forward"}};
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

mjsBody *add(const scene_body &b, mjsBody *parent)
{
    mjsBody *body = mjs_addBody(parent, nullptr);
    copy3(body->pos, b.at);
    body->mass = b.mass;
    copy3(body->ipos, b.com);
    copy3(body->inertia, b.inertia);
    body->explicitinertial = 1;
    mjsJoint *joint = mjs_addJoint(body, nullptr);
    joint->type = b.joint == SCENE_FREE   ? mjJNT_FREE
                  : b.joint == SCENE_BALL ? mjJNT_BALL
                                          : mjJNT_HINGE;
    for (int i = 0; i < 3; i++) joint->axis[i] = i == b.axis;
    return body;
}

std::unique_ptr<mjModel, model_deleter> build(const std::vector<scene_body> &body)
{
    std::unique_ptr<mjSpec, spec_deleter> spec(mj_makeSpec());
    std::vector<mjsBody *> made;
    for (const scene_body &b : body)
        made.push_back(
            add(b, b.parent < 0 ? mjs_findBody(spec.get(), "world") : made[(size_t)b.parent]));
    spec->option.disableflags = mjDSBL_CONSTRAINT | mjDSBL_CONTACT;
    spec->option.timestep = 0.005;
    spec->option.integrator = mjINT_RK4;
    std::unique_ptr<mjModel, model_deleter> model(mj_compile(spec.get(), nullptr));
    if (!model) throw std::runtime_error(mjs_getError(spec.get()));
    return model;
}

class mujoco_peer : public peer
{
  public:
    explicit mujoco_peer(const std::vector<scene_body> &body)
        : body(body), model(build(body)), data(mj_makeData(model.get()))
    {
    }
    void set(int copy, const double *q, const double *v, const double *tau) override
    {
        if (states.size() <= (size_t)copy) states.resize((size_t)copy + 1);
        state &s = states[(size_t)copy];
        s.q.assign(model->qpos0, model->qpos0 + model->nq);
        s.v.assign(v, v + model->nv);
        s.tau.assign(tau, tau + model->nv);
        for (size_t i = 0, at = 0; i < body.size(); at += body[i++].joint)
            if (body[i].joint == SCENE_REVOLUTE) s.q[(size_t)model->jnt_qposadr[i]] = q[at];
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
        const int from = body[0].joint == SCENE_FREE ? 6 : 0;
        return std::vector<double>(data->qacc + from, data->qacc + model->nv);
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
    std::unique_ptr<mjModel, model_deleter> model;
    std::unique_ptr<mjData, data_deleter> data;
    std::vector<state> states;

    void look(energy_watch &watch)
    {
        mj_energyPos(model.get(), data.get());
        mj_energyVel(model.get(), data.get());
        watch.look(data->energy[1], data->energy[0]);
    }
};

} // namespace

std::unique_ptr<peer> make_peer(const std::vector<scene_body> &body, const std::string &,
                                std::string &)
{
    return std::make_unique<mujoco_peer>(body);
}
