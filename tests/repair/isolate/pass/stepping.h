#pragma once
// Runs a thread instruction by instruction (the processor's trap flag), and lets something happen at a chosen
// instruction: another converted thread runs its whole part, or this one commits, comes home or is converted.
// Every place is tried exactly once. Part of the library for the converted threads of annotated tests
// (isolated_pages.h).
//
// Places are instructions of the program and, on request, those of our own library at which a request would
// be followed: while it works on the private pages, no request is. Instructions of the C library are not
// places, because it does not access the program's data between our calls.

#include <cstdint>

extern "C" {

enum SteppingInjects {
  kSteppingNothing,
  kSteppingCommit,
  kSteppingGiveBack,  // the kernel continues at home
  kSteppingConvert,   // it started at home
};

struct SteppingPlan {
  bool counts_library;
  SteppingInjects injects;
  uint64_t inject_at;  // places are counted from 1; 0: nowhere
  uint64_t other_at;   // where the other converted thread runs its part; 0: after the last place
};

// Prepares the calling thread to be stepped. The pages of [address, + bytes) are private in each run, except
// those that begin at home. Must be called once.
void stepping_begin(const void* address, uint64_t bytes);

// Runs the part and returns the number of places. When it returns, the other thread's part has ended and both
// have committed.
uint64_t stepping_run(void (*part)(), const SteppingPlan* plan);

// Called by the other converted thread, which already has its pages. Runs the part whenever the first thread
// reaches the chosen place, until stepping_end().
void stepping_serve(void (*part)());
void stepping_end();
}
