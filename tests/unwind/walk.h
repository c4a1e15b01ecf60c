#pragma once
// Walks the calling thread's own stack from a signal handler and keeps the result, for test_unwind_walk.

#include <link.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/unwind/thread_sampler.h"

namespace prof_test {

using namespace hpcrun;

inline const int kWalkSignal = SIGRTMIN + 4;

inline std::map<uint16_t, std::string> module_paths;
inline void remember_module(const ModuleInfo& info) noexcept {
  module_paths[info.id] = info.path;
}

// Passed from the handler to the test.
struct Walked {
  ThreadWalker* walker = nullptr;
  uint32_t depth = 0;
  StackReason reason = StackReason::Count;
  std::vector<FrameKey> frames = std::vector<FrameKey>(kMaxDepth);
};
inline thread_local Walked* walked = nullptr;
inline volatile bool keep_spinning = false;

inline void walk_in_handler(int, siginfo_t*, void* context) {
  const Stack stack = walked->walker->unwinder.walk(*static_cast<ucontext_t*>(context));
  walked->depth = stack.depth;
  walked->reason = stack.reason;
  std::copy(stack.frames, stack.frames + stack.depth, walked->frames.begin());
  keep_spinning = false;
}

inline uint64_t bias_of_program() {
  uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        *static_cast<uint64_t*>(to) = info->dlpi_addr;
        return 1;
      },
      &bias);
  return bias;
}

struct Walk {
  ThreadWalker walker;
  Walked result;

  Walk() {
    set_module_sink(remember_module);
    refresh_modules();
    install_handler(kWalkSignal, walk_in_handler);
    result.walker = &walker;
    walked = &result;
  }

  // Returns how many frames lie in [start, start + bytes) of this program.
  template <typename Function>
  size_t frames_in(Function* function, uint64_t bytes = 64) const {
    const uint64_t start = reinterpret_cast<uint64_t>(function) - bias_of_program();
    return static_cast<size_t>(
        std::count_if(result.frames.begin(), result.frames.begin() + result.depth, [&](FrameKey key) {
          return module_paths[frame_module(key)].find("test_unwind_walk") != std::string::npos &&
                 frame_offset(key) >= start && frame_offset(key) < start + bytes;
        }));
  }
  bool reached_main() const {
    return stack_class(result.reason) == StackClass::Complete && result.depth > 3 &&
           module_paths[frame_module(result.frames[result.depth - 1])].find("test_unwind_walk") !=
               std::string::npos;
  }
};

using Callback = void (*)();

inline void raise_walk() {
  raise(kWalkSignal);
}

}  // namespace prof_test
