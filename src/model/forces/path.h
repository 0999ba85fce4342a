// path.h -- the length of a path over bodies, and what a force along it does to them.
//
// A path leads from point to point in straight lines, round obstacles between two points: spheres, or cylinders without
// ends.  The part on an obstacle is the shortest curve on it, which the straight parts continue without a kink; so the
// length changes as if the points where it begins and ends were fixed to the obstacle:
//     dL/dt = sum n . (v_2 - v_1) / divisor                     n, v_1, v_2 of each straight part
// and a force f along L is the force f n / divisor on each second point, and the opposite on the first.
#ifndef LWI_MODEL_FORCES_PATH_H
#define LWI_MODEL_FORCES_PATH_H

#include "model/forces/force.h"

typedef struct lwi_path_part {
    int body;
    double point[3]; ///< point or centre, from the mass centre, body axes
    double radius;   ///< of an obstacle; 0: a point
    bool cylinder;
    double R[9]; ///< of a cylinder: its third column is the axis, body axes
    int side;    ///< body of the point that gives the side on which the path passes; -1: none
    double side_point[3];
    double divisor; ///< of a pulley; 0: none
} lwi_path_part;

/** A straight part: points on two bodies in the world, relative to their mass centres. */
typedef struct lwi_path_line {
    int body1, body2;
    double arm1[3], arm2[3], n[3]; ///< n: unit vector, or zero where the points meet
    double divisor;
} lwi_path_line;

/** Where a path between two points of the world touches an obstacle: points in the world [m].
 *  @return length of the curve between them [m]; < 0: it does not touch it */
double lwi_path_wind(const lwi_path_part *obstacle, const lwi_kin *kin, const double from[3],
                     const double to[3], double first[3], double last[3]);
/** The length [m]; calls `line` (may be NULL) for each straight part between two bodies, from the first to the last. */
double lwi_path_walk(const lwi_path_part *part, int n, const lwi_kin *kin,
                     void (*line)(void *user, const lwi_path_line *line), void *user);

/** Which obstacles the path touches, and on which sides: the same number on both sides of a state where L is smooth. */
int lwi_path_piece(const lwi_path_part *part, int n, const lwi_kin *kin);
/** Does the path go from one side of an obstacle to the other between these pieces? */
bool lwi_path_changes_sides(int from, int to);

/** A straight part between two parts of a path (their numbers) as bodies move. */
typedef struct lwi_path_moved {
    lwi_path_line line;
    int part1, part2;
    double length;
    double shift1[3], shift2[3]; ///< changes of its ends in the world
} lwi_path_moved;

/** As lwi_path_walk, with the changes of the straight parts along displacements and rotations of the bodies: world axes,
 *  of the body of each part, about its mass centre.  Not for paths within an obstacle.
 *  @param pose  [n]; NULL: nothing moves */
void lwi_path_differentiate(const lwi_path_part *part, int n, const lwi_kin *kin,
                            const double (*pose)[6],
                            void (*line)(void *user, const lwi_path_moved *line), void *user);
/** Does the path pass all obstacles outside, at any poses? */
bool lwi_path_is_outside(const lwi_path_part *part, int n);

/** The pieces of a drawn path: straight ones, and chords of the curves on obstacles. */
enum { LWI_PATH_CHORDS = 10 };
/** Calls `piece` (may be NULL) for each, between points of the world, in the same number at any poses: a straight part
 *  between two points with an obstacle that it does not touch is cut into as many.  @return how many */
int lwi_path_draw(const lwi_path_part *part, int n, const lwi_kin *kin, lwi_drawn_piece *piece,
                  void *user);

#endif
