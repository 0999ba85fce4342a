// keys.c -- keys of structs that several things contain.
#include "model/keys.h"

#include "base/base.h"

// clang-format off
#define AT(field) .offset = offsetof(lw_pose, field)
static const lwi_yaml_key pose_keys[] = {
    {"position", LWI_KEY_VECTOR, AT(position), .help = "origin [m]; default 0 0 0"},
    {"orientation", LWI_KEY_QUATERNION, AT(orientation),
     .help = "unit quaternion, scalar first; default 1 0 0 0"},
};
#undef AT
const lwi_yaml_object lwi_yaml_pose_object = {.title = "frame",
                                    .help = "a frame fixed in a body, in the body frame",
                                    .key = pose_keys,
                                    .nkey = LWI_COUNT(pose_keys)};
