// ground_truth [SECONDS]: runs the work alone, to be profiled from outside.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "work.h"

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2.0;
  const auto shadow = std::make_unique<ground_truth::Shadow>();
  ground_truth::thread_truth.current = shadow.get();
  ground_truth::install_handlers();
  const uint64_t sum = ground_truth::work_for(static_cast<uint64_t>(seconds * 1e9));
  std::printf("checksum %016llx\n", static_cast<unsigned long long>(sum));
}
