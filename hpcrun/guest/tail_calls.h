#pragma once
// Marks a function that calls another in tail position, so that our frame is not between its caller and that
// function, even in builds without optimization. (clang, which is only used to check this code, has no such
// attribute.)

#ifdef __clang__
#define HPCRUN_TAIL_CALLS
#else
#define HPCRUN_TAIL_CALLS __attribute__((optimize("O2")))
#endif
