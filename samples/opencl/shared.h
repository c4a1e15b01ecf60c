#pragma once
// Two processes that share a device and run in lockstep, with a barrier after each half of a step.

namespace opencl {

enum class Phases { Same, Alternate };

// Runs the whole program and returns its exit status.
int share_device(int argc, char** argv, Phases phases);

}  // namespace opencl
