// A library whose constructor starts a thread that works and calls the C library, and waits for it.

#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "spin.h"

namespace {

void work_early() {
  close(open("/dev/null", O_RDONLY));
  spin(0.2);
}

[[gnu::constructor]] void start() {
  std::thread(work_early).join();
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void early() {}
