"""Numbers that [malczyk2019] prints, and those of an independent prototype of its equations.

The prototype (a general small-system code and a chain code, six and seven coordinates) stands beside the
paper's figures, whose curves cannot be read to the digit.
"""

# Largest relative difference from the prototype that still counts as the same.
SAME = 0.15

# Double pendulum, h = 0.01 s, 10 s: largest position error of A [m], energy least and last [J].
PENDULUM = {"default": (2.07e-3, -8.4e-3, -2.2e-3), "paper": (2.35e-3, -1.36e-2, -2.4e-3)}
# Largest error of the force of joint 1 with the multipliers of Newton's iterations, and with those of the projection of
# accelerations [N].
PENDULUM_FORCE = {"default": {"newton": 0.503, "step": 0.085}, "paper": {"newton": 0.332, "step": 0.171}}
# t: centre of A, centre of B, force of joint 1 on A
PENDULUM_AT = {
    1: ((-0.34219038, -0.35603991, 0.07836663), (-0.54191652, -1.18921035, 0.11145192),
        (9.023711, 22.73985, -1.990066)),
    10: ((0.3684663, -0.22644296, -0.25091068), (0.4319501, -0.84900968, -0.51028464),
         (-10.415432, 16.505721, 7.290327)),
}

# Four-bar, reading I, 30 s: energy least [J], position error of A [m], branch deviation [m].
FOUR_BAR = {"default": (-3.8e-4, 1.5e-3)}
FOUR_BAR_II_PAPER = (-2.07e-2, -4.8e-3)  # least and last energy, reading II, the paper's parameters

# Chain of 128: the paper's energy [J] at 5.22 s and after; largest kinetic energy [J] and its time.
CHAIN_PAPER = (-46.84, -25)
CHAIN_KINETIC = (79747.66, 5.22)
CHAIN_TIP = {1: (126.62492097, -4.905), 3: (108.87628032, -44.145), 5: (25.20870936, -122.50716409)}
CHAIN_ERROR = {1: 4.0e-4, 3: 1.7e-3, 5: 1.0e-2}
# Least and last energy; levels of the paper's tangent: inertia, geometric stiffness, everything.
CHAIN = {"default": (-36.77, -16.06), "paper": (-46.01, -7.43), "paper, level 1": (-47.34, -18.8),
         "paper, level 2": (-40.39, -23.8)}
CHAIN_1024 = (-4.0, -3.7)  # energy after 10 s lies between

# The paper's share of time: Newton's three iterations, each of the two projections.
SHARES = (81, 9.5, 9.5)
