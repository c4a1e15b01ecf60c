#pragma once
// For a function that calls another in tail position so that no frame of ours is between its caller and that:
// in builds without optimisation too. (clang, which only checks this code, has no such attribute.)

#ifdef __clang__
#define HPCRUN_TAIL_CALLS
#else
#define HPCRUN_TAIL_CALLS __attribute__((optimize("O2")))
#endif
