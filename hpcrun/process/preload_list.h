#pragma once
// Parses the environment's variables that may name the runtime, LD_PRELOAD and OPENCL_LAYERS. They are lists
// of libraries that end at colons and spaces. Plain loops that call no function of the C library, because
// they also run before it is initialized (sanitized_start.cpp). Async-signal-safe.

#include <cstddef>

namespace hpcrun {

constexpr char kPreloadVariable[] = "LD_PRELOAD=";
constexpr char kLayersVariable[] = "OPENCL_LAYERS=";

// Returns how many bytes of a text are this beginning: all of them, or 0.
inline size_t length_of_beginning(const char* text, const char* beginning) noexcept {
  size_t i = 0;
  for (; beginning[i]; ++i)
    if (text[i] != beginning[i]) return 0;
  return i;
}

// Returns where the list begins in a variable that may name the runtime, or 0 for any other variable.
inline size_t begin_of_list(const char* variable) noexcept {
  const size_t begin = length_of_beginning(variable, kPreloadVariable);
  return begin ? begin : length_of_beginning(variable, kLayersVariable);
}

// Returns the value of LD_PRELOAD in an environment; nullptr if it has none.
inline const char* preload_of(char* const environment[]) noexcept {
  for (; environment && *environment; ++environment)
    if (const size_t begin = length_of_beginning(*environment, kPreloadVariable)) return *environment + begin;
  return nullptr;
}

struct PreloadEntry {
  const char* begin = nullptr;
  size_t bytes = 0;  // 0: the list has ended

  bool is_runtime() const noexcept { return is_ours() && names("libprof-runtime.so"); }
  // True for the runtime, or a library that comes with it.
  bool is_ours() const noexcept { return name() > 0 && length_of_beginning(begin + name(), "libprof-") != 0; }
  // True if an allocator follows it in the list.
  bool brings_allocator() const noexcept { return is_ours() && names("libprof-isolate.so"); }

 private:
  // Returns where the file's name begins; 0 if no folder is named.
  size_t name() const noexcept {
    for (size_t at = bytes; at > 0; --at)
      if (begin[at - 1] == '/') return at;
    return 0;
  }
  bool names(const char* file) const noexcept {
    return length_of_beginning(begin + name(), file) == bytes - name();
  }
};

inline PreloadEntry next_entry(const char*& at) noexcept {
  const auto is_end = [](char c) { return c == ':' || c == ' '; };
  while (is_end(*at)) ++at;
  PreloadEntry entry{at, 0};
  while (*at && !is_end(*at)) ++at;
  entry.bytes = static_cast<size_t>(at - entry.begin);
  return entry;
}

// Removes prof's libraries from a list, in place. Returns the remaining bytes.
inline size_t remove_runtime(char* list) noexcept {
  char* end = list;
  const char* at = list;
  bool is_allocator = false;
  for (PreloadEntry entry = next_entry(at); entry.bytes != 0; entry = next_entry(at)) {
    const bool is_left_out = entry.is_ours() || is_allocator;
    is_allocator = entry.brings_allocator();
    if (is_left_out) continue;
    const char separator = end == list ? '\0' : ':';
    if (separator) *end++ = separator;
    for (size_t i = 0; i < entry.bytes; ++i) *end++ = entry.begin[i];
  }
  *end = '\0';
  return static_cast<size_t>(end - list);
}

}  // namespace hpcrun
