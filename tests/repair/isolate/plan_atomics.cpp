// plan_atomics FILE...: plans the atomic instructions of programs and libraries (atomic_sites.h), each mapped
// in a process of its own, without running any. Prints a line for each that has such instructions: their
// number, how many others had to be moved, KiB of trampolines, milliseconds, the file, and the reason if it
// is declined.

#include <chrono>
#include <cstdio>

#include "repair/isolate/atomics/atomic_sites.h"
#include "tests/repair/isolate/child.h"
#include "tests/repair/isolate/mapped_module.h"

namespace {

int plan(const char* path) {
  using namespace hpcrun;
  const test::MappedModule module(path);
  if (!module.info()) return 0;
  const auto begin = std::chrono::steady_clock::now();
  const char* const refusal = plan_atomic_sites(*module.info());
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const AtomicSiteCounts counts = atomic_site_counts();
  if (refusal || counts.sites)
    std::printf("%7lu %6lu %7lu %9.1f %s%s%s\n", counts.sites, counts.moved, counts.trampoline_bytes / 1024,
                took.count(), path, refusal ? ": " : "", refusal ? refusal : "");
  std::fflush(stdout);
  return 0;
}

}  // namespace

int main(int count, char** files) {
  int failed = 0;
  for (int i = 1; i < count; ++i) {
    const int status = status_of([&] { return plan(files[i]); });
    if (status == 0) continue;
    std::printf("      -      -       -         - %s: ended with %d\n", files[i], status);
    failed = 1;
  }
  return failed;
}
