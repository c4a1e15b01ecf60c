// Defect: two processes share a device in lockstep. Both use it at the same time, and both leave it idle
// while they work on the host.

#include "shared.h"

int main(int argc, char** argv) {
  return opencl::share_device(argc, argv, opencl::Phases::Same);
}
