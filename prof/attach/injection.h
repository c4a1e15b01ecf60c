#pragma once
// Runs functions of the runtime in another process: one of its threads is stopped for a moment to create a
// thread that loads the runtime and calls it. That one waits for locks of the loader and the allocator as any
// thread would, while the others run on, and ends when it is done.

#include <cstdint>
#include <filesystem>
#include <string>

#include "prof/attach/target_process.h"

namespace prof {

class Injection {
 public:
  explicit Injection(TargetProcess target) : target_(std::move(target)) {}
  // Unmaps what was mapped in the process, for which a thread is stopped once more: a sample may end the call
  // that it waits in, so that none is to be taken then.
  ~Injection();

  // The process executed another program, which has other memory there.
  void leave_memory();
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;

  // Loads the library, where it is not, and calls its `long function(const char*)` with a copy of the text,
  // which may have zero bytes. Its result. Throws CommandError (125) where that cannot be done, with the
  // loader's reason.
  long call(const std::filesystem::path& library, const std::string& function, const std::string& text);

 private:
  void create_thread(const std::string& request);
  long wait_for_result();

  TargetProcess target_;
  uint64_t memory_ = 0;  // in the process
};

}  // namespace prof
