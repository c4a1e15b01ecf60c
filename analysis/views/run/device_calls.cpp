#include "analysis/views/run/device_calls.h"

#include <cctype>

namespace prof {
namespace {

struct KnownCall {
  std::string_view part;  // of the function's name
  CallAdvice advice;
};

// The first match counts.
constexpr KnownCall kKnownCalls[] = {
    {"BuildProgram", {"compiles", "build once at the start, or keep the binary"}},
    {"CompileProgram", {"compiles", "build once at the start, or keep the binary"}},
    {"LinkProgram", {"compiles", "build once at the start, or keep the binary"}},
    {"ModuleLoad", {"loads code", "load modules once at the start"}},
    {"ReleaseMemObject", {"synchronizes", "allocate once outside the loop and use the buffer again"}},
    {"SVMFree", {"synchronizes", "allocate once outside the loop and use the memory again"}},
    {"Free", {"synchronizes", "allocate once outside the loop and use the memory again"}},
    {"CreateBuffer", {"allocates", "allocate once outside the loop and use the buffer again"}},
    {"CreateImage", {"allocates", "allocate once outside the loop and use the image again"}},
    {"SVMAlloc", {"allocates", "allocate once outside the loop and use the memory again"}},
    {"Malloc", {"allocates", "allocate once outside the loop and use the memory again"}},
    {"MemAlloc", {"allocates", "allocate once outside the loop and use the memory again"}},
    {"EnqueueRead",
     {"blocks until the data is there",
      "read without blocking, enqueue the next work, and wait for the event where the data is used"}},
    {"EnqueueWrite",
     {"blocks until the data is copied", "write without blocking, and wait before the memory changes"}},
    {"EnqueueMap",
     {"blocks until the memory is mapped", "map without blocking, and enqueue the next work before"}},
    {"EnqueueSVMM", {"blocks", "do not block, and enqueue the next work before the wait"}},
    {"MemcpyAsync", {"copies", "use pinned memory, so that the copy need not wait"}},
    {"Memcpy", {"blocks until the data is copied", "copy asynchronously from pinned memory"}},
    {"Synchronize", {"synchronizes", "enqueue the next work before waiting, or wait for an event"}},
    {"Finish", {"synchronizes", "enqueue the next work before waiting, or wait for an event"}},
    {"WaitForEvents", {"waits", "enqueue the next work before waiting"}},
    {"finish", {"synchronizes", "enqueue the next work before waiting, or wait for an event"}},
    {"Enqueue", {"launches late", "launch more work with each call, or from another thread"}},
    {"Launch", {"launches late", "launch more work with each call, or a graph of them"}},
};

bool starts_word(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         std::isupper(static_cast<unsigned char>(name[prefix.size()])) != 0;
}

}  // namespace

bool is_device_call(std::string_view function) {
  return starts_word(function, "cl") || starts_word(function, "cu") || starts_word(function, "cuda") ||
         function.starts_with("cl::");
}

CallAdvice advice_for_call(std::string_view function) {
  for (const KnownCall& known : kKnownCalls)
    if (function.find(known.part) != std::string_view::npos) return known.advice;
  return {"leaves the device without work", "enqueue the next work before it"};
}

}  // namespace prof
