#pragma once
// Runs a thread instruction by instruction (the processor's trap flag), and has something happen at a chosen
// one: what another converted thread does from beginning to end, a commit, the thread's own return, its
// conversion. So every place is tried, and none twice. In the library of annotated tests' converted threads
// (isolated_pages.h).
//
// Places are instructions of the program, and where it is asked for those of our own library at which a
// request would be followed: while it works on the private pages nothing else may. Those of the C library are
// none, which does not work on the program's data between calls of ours.

#include <cstdint>

extern "C" {

enum SteppingInjects {
  kSteppingNothing,
  kSteppingCommit,
  kSteppingGiveBack,  // the kernel goes on at home
  kSteppingConvert,   // it began there
};

struct SteppingPlan {
  bool counts_library;
  SteppingInjects injects;
  uint64_t inject_at;  // places are counted from 1 on; 0: nowhere
  uint64_t other_at;   // where the other converted thread runs its part; 0: behind the last place
};

// The caller is to be run so; the pages of [address, + bytes) are its own from now on in each run, but those
// that begin at home. Once.
void stepping_begin(const void* address, uint64_t bytes);

// Runs it, and returns how many places there were. The other's part has ended, and both have committed, when
// it returns.
uint64_t stepping_run(void (*part)(), const SteppingPlan* plan);

// Of the other converted thread, which has its pages already: runs the part whenever the first one comes to
// where it should, until stepping_end().
void stepping_serve(void (*part)());
void stepping_end();
}
