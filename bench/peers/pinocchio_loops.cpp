// pinocchio_loops.cpp -- Pinocchio's accelerations of a mechanism with loops and their derivatives, a library for
// loop_derivatives.py.
//
// A mechanism is text, one item a line, all frames parallel to those of the world at q = 0:
//
//     gravity X Y Z
//     body PARENT TYPE  AT[3] AXIS[3] AXIS2[3]  MASS COM[3] INERTIA[6]
//     loop BODY1 AT[3] BODY2 AT[3]
//
// Bodies count from 0, -1 is the ground; AT is the place of the joint from that of the body's own joint; TYPE is one of
// R, P, U, S; INERTIA is xx, xy, yy, xz, yz, zz about the mass centre.  A loop is closed by points that coincide.
// States are displacements from q = 0, along the speeds.
#include <pinocchio/config.hpp>

#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>
#include <pinocchio/algorithm/constrained-dynamics-derivatives.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace pin = pinocchio;
using Eigen::Map;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace
{

Vector3d vec3(std::istream &in)
{
    Vector3d x;
    in >> x[0] >> x[1] >> x[2];
    return x;
}

// Of an axis of the frame where there is one: those are the faster.
pin::JointModel joint_of(char type, const Vector3d &axis, const Vector3d &axis2)
{
    const bool x = axis == Vector3d::UnitX(), y = axis == Vector3d::UnitY(),
               z = axis == Vector3d::UnitZ();
    switch (type) {
    case 'R':
        if (x) return pin::JointModelRX();
        if (y) return pin::JointModelRY();
        if (z) return pin::JointModelRZ();
        return pin::JointModelRevoluteUnaligned(axis);
    case 'P':
        if (x) return pin::JointModelPX();
        if (y) return pin::JointModelPY();
        if (z) return pin::JointModelPZ();
        return pin::JointModelPrismaticUnaligned(axis);
    case 'U':
        return pin::JointModelUniversal(axis, axis2);
    default:
        return pin::JointModelSpherical();
    }
}

struct mechanism {
    pin::Model model;
    pin::Data data;
    PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintModel) rows;
    PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintData) row_data;
    pin::ProximalSettings settings;
    VectorXd q, neutral;

    mechanism(std::istream &in, double accuracy, double mu) : settings(accuracy, mu, 20)
    {
        std::string what;
        while (in >> what) {
            if (what == "gravity") model.gravity.linear() = vec3(in);
            if (what == "body") add_body(in);
            if (what == "loop") add_loop(in);
        }
        data = pin::Data(model);
        for (const auto &row : rows) row_data.emplace_back(row);
        pin::initConstraintDynamics(model, data, rows, row_data);
        neutral = pin::neutral(model);
        q = neutral;
    }
    void add_body(std::istream &in)
    {
        int parent;
        char type;
        double mass;
        Eigen::Matrix3d J;
        in >> parent >> type;
        const Vector3d at = vec3(in), axis = vec3(in), axis2 = vec3(in);
        in >> mass;
        const Vector3d com = vec3(in);
        in >> J(0, 0) >> J(0, 1) >> J(1, 1) >> J(0, 2) >> J(1, 2) >> J(2, 2);
        J(1, 0) = J(0, 1), J(2, 0) = J(0, 2), J(2, 1) = J(1, 2);
        const auto id = model.addJoint((pin::JointIndex)(parent + 1), joint_of(type, axis, axis2),
                                       pin::SE3(Eigen::Matrix3d::Identity(), at),
                                       "j" + std::to_string(model.njoints));
        model.appendBodyToJoint(id, pin::Inertia(mass, com, J));
    }
    void add_loop(std::istream &in)
    {
        pin::JointIndex id[2];
        pin::SE3 place[2];
        for (int i = 0; i < 2; i++) {
            int body;
            in >> body;
            id[i] = (pin::JointIndex)(body + 1);
            place[i] = pin::SE3(Eigen::Matrix3d::Identity(), vec3(in));
        }
        rows.emplace_back(pin::CONTACT_3D, model, id[0], place[0], id[1], place[1], pin::LOCAL);
    }
    const VectorXd &accelerations(const VectorXd &at, const VectorXd &v, const VectorXd &tau)
    {
        return pin::constraintDynamics(model, data, at, v, tau, rows, row_data, settings);
    }
};

Map<const VectorXd> vector(const mechanism *m, const double *x)
{
    return Map<const VectorXd>(x, m->model.nv);
}

Map<Matrix> matrix(const mechanism *m, double *x)
{
    return Map<Matrix>(x, m->model.nv, m->model.nv);
}

} // namespace

extern "C" {

mechanism *pin_create(const char *text, double accuracy, double mu)
{
    std::istringstream in(text);
    return new mechanism(in, accuracy, mu);
}

int pin_nv(const mechanism *m)
{
    return m->model.nv;
}

void pin_accelerations(mechanism *m, const double *dq, const double *v, const double *tau,
                       double *vdot)
{
    pin::integrate(m->model, m->neutral, vector(m, dq), m->q);
    const VectorXd &a = m->accelerations(m->q, vector(m, v), vector(m, tau));
    std::memcpy(vdot, a.data(), (size_t)m->model.nv * sizeof *vdot);
}

// Central differences about q = 0 by each coordinate, speed and effort.
void pin_differences(mechanism *m, const double *v0, const double *tau0, double step, double *by_q,
                     double *by_v, double *by_tau)
{
    const int n = m->model.nv;
    VectorXd dq = VectorXd::Zero(n), v = vector(m, v0), tau = vector(m, tau0), plus(n);
    double *const out[3] = {by_q, by_v, by_tau};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n; i++) {
            VectorXd &moved = k == 0 ? dq : k == 1 ? v : tau;
            const double here = moved[i];
            for (int side = 1; side >= -1; side -= 2) {
                moved[i] = here + side * step;
                if (k == 0) pin::integrate(m->model, m->neutral, dq, m->q);
                const VectorXd &a = m->accelerations(k == 0 ? m->q : m->neutral, v, tau);
                if (side > 0)
                    plus = a;
                else
                    matrix(m, out[k]).col(i) = (plus - a) / (2 * step);
            }
            moved[i] = here;
        }
}

// Its own derivatives at q = 0, rows are accelerations.
void pin_derivatives(mechanism *m, const double *v, const double *tau, double *by_q, double *by_v,
                     double *by_tau)
{
    m->accelerations(m->neutral, vector(m, v), vector(m, tau));
    pin::computeConstraintDynamicsDerivatives(m->model, m->data, m->rows, m->row_data, m->settings);
    matrix(m, by_q) = m->data.ddq_dq;
    matrix(m, by_v) = m->data.ddq_dv;
    matrix(m, by_tau) = m->data.ddq_dtau;
}
}
