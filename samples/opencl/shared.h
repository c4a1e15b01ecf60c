#pragma once
// Two processes that share a device, and keep step by a barrier after each half of a step.

namespace opencl {

enum class Phases { Same, Alternate };

// The program's whole work and its exit status.
int share_device(int argc, char** argv, Phases phases);

}  // namespace opencl
