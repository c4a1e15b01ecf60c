// libFuzzer entry: arbitrary bytes as a measurement file. The last byte decides if checksums are made valid.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/measurement/invariants.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int descriptor = ::memfd_create("input", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  std::vector<uint8_t> bytes(data, data + size);
  if (!bytes.empty() && (bytes.back() & 1) != 0) prof::test::forge_checksums(bytes);
  if (::ftruncate(descriptor, static_cast<off_t>(bytes.size())) != 0) return 0;
  if (::pwrite(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return 0;
  try {
    if (const char* broken = prof::test::broken_invariant(prof::read_measurement(path))) {
      std::fprintf(stderr, "broken: %s\n", broken);
      std::abort();
    }
  } catch (const prof::MeasurementError&) {
  }
  return 0;
}
