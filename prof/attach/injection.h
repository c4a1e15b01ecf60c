#pragma once
// Runs functions of the runtime in another process. One of its threads is stopped for a moment to create a
// new thread, which loads the runtime and calls the function. The new thread waits for locks of the loader
// and the allocator as any thread would, while the others run on. It ends when it is done.

#include <cstdint>
#include <filesystem>
#include <string>

#include "prof/attach/target_process.h"

namespace prof {

class Injection {
 public:
  explicit Injection(TargetProcess target) : target_(std::move(target)) {}
  // Unmaps prof's memory in the process, for which a thread is stopped once more. No samples may be taken
  // meanwhile: one could interrupt the call in which that thread waits.
  ~Injection();

  // Leaves the memory alone: the process has executed another program, which has other memory there.
  void leave_memory();
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;

  // Loads the library if it is not loaded yet, and calls its `long function(const char*)` with a copy of the
  // text, which may contain zero bytes. Returns the function's result. Throws CommandError (125) with the
  // loader's reason if that fails.
  long call(const std::filesystem::path& library, const std::string& function, const std::string& text);

 private:
  void create_thread(const std::string& request);
  long wait_for_result();

  TargetProcess target_;
  uint64_t memory_ = 0;  // in the process
};

}  // namespace prof
