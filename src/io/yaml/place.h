// place.h -- subsystems that are included elsewhere: rotated, moved, mirrored.
//
//   x -> r + R S x,   S = diag(+-1): a reflection where a file is mirrored
//
// Body frames stay right-handed: that of a mirrored body is S R_b S, so that its own vectors are S x.  Joint frames become
// S F T with a reflection T of the joint's own axes, which is chosen for each type so that coordinates keep their signs.
#ifndef LWI_IO_YAML_PLACE_H
#define LWI_IO_YAML_PLACE_H

#include <linkwork/model.h>

#include <stdbool.h>

typedef struct lwi_yaml_place {
    bool moved; ///< otherwise the identity
    double R[9], r[3];
    double S[3], det; ///< signs, their product
    double quat[4];   ///< of R
} lwi_yaml_place;

/** The identity. */
void lwi_yaml_place_none(lwi_yaml_place *place);
/** A place in that of the file that includes it.
 *  @param mirror  0: not mirrored; 1, 2, 3: x, y, z changes its sign */
void lwi_yaml_place_in(const lwi_yaml_place *outer, const lw_pose *pose, int mirror,
                       lwi_yaml_place *place);

lw_vec3 lwi_yaml_place_position(const lwi_yaml_place *place, lw_vec3 x);
/** Vectors in world axes; axial ones (angular velocity, torque) keep their sense of rotation. */
lw_vec3 lwi_yaml_place_vector(const lwi_yaml_place *place, lw_vec3 x, bool axial);
/** The same in the axes of a body. */
lw_vec3 lwi_yaml_mirror_vector(const lwi_yaml_place *place, lw_vec3 x, bool axial);
lw_quat lwi_yaml_mirror_attitude(const lwi_yaml_place *place, lw_quat q);
/** Pose in the world of the subsystem -> world, and back. */
lw_pose lwi_yaml_place_pose(const lwi_yaml_place *place, lw_pose pose);
lw_pose lwi_yaml_place_back(const lwi_yaml_place *place, lw_pose pose);

void lwi_yaml_place_body(const lwi_yaml_place *place, lw_body_desc *desc);

/** Signs of a joint's own axes, T, and of its coordinates and speeds. */
typedef struct lwi_yaml_joint_signs {
    double T[3], q[LW_JOINT_MAX_NQ], qd[LW_JOINT_MAX_NV];
} lwi_yaml_joint_signs;
void lwi_yaml_joint_signs_of(const lwi_yaml_place *place, lw_joint_type type,
                             lwi_yaml_joint_signs *signs);
/** Joint frame in the axes of its body: S F T. */
lw_pose lwi_yaml_mirror_frame(const lwi_yaml_place *place, const double T[3], lw_pose frame);

#endif
