// shared.cpp without its defect: one process uses the device while the other one works on the host.

#include "shared.h"

int main(int argc, char** argv) {
  return opencl::share_device(argc, argv, opencl::Phases::Alternate);
}
