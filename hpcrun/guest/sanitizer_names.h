#pragma once
// Recognizes a program with a sanitizer by names among its dynamic symbols, or by a library in LD_PRELOAD.
// Plain loops that call no function of the C library: they also run before the C library and the sanitizer
// are initialized (hpcrun/process/sanitized_start.cpp). Async-signal-safe.

#include <cstddef>

namespace hpcrun {

// Searches null-terminated names, which may come in pieces.
class SanitizerNames {
 public:
  static constexpr size_t kLongest = 26;  // of the names below, in bytes

  // Takes the next names. A name that is split between two pieces is missed: they should overlap by kLongest
  // + 2. Returns true once the names show a sanitizer that intercepts functions of the C library. The
  // undefined-behavior sanitizer intercepts none.
  [[nodiscard]] bool take(const char* names, size_t bytes) noexcept {
    for (size_t at = 0; at < bytes; ++at) {
      if (at != 0 && names[at - 1] != '\0') continue;
      const char* const name = names + at;
      const size_t left = bytes - at;
      if (name[0] == 'p') {
        has_interceptor_ = has_interceptor_ || is(name, left, "process_vm_writev");
      } else if (left > 1 && name[0] == '_' && name[1] == '_') {
        for (const char* known : kSanitizers)
          if (is(name, left, known)) return true;
        has_symbolizer_ = has_symbolizer_ || is(name, left, "__sanitizer_symbolize_code");
      }
    }
    // GCC's -static-libtsan exports the functions that it intercepts, and none of its own.
    return has_symbolizer_ && has_interceptor_;
  }

 private:
  // Defined or called by every program built with one; the last by GCC's -static-libasan and -static-liblsan.
  static constexpr const char* kSanitizers[] = {"__asan_init",  "__hwasan_init",  "__tsan_init",
                                                "__msan_init",  "__lsan_init",    "__dfsan_init",
                                                "__rtsan_init", "__memprof_init", "__lsan_is_turned_off"};

  // True if the text, of which `left` bytes are available, is this name with its null byte.
  [[nodiscard]] static bool is(const char* text, size_t left, const char* name) noexcept {
    for (size_t i = 0; i < left; ++i) {
      if (text[i] != name[i]) return false;
      if (name[i] == '\0') return true;
    }
    return false;
  }

  bool has_symbolizer_ = false;
  bool has_interceptor_ = false;
};

inline constexpr const char* kSanitizerLibraries[] = {
    "libasan.",         "libhwasan.",         "libtsan.",         "liblsan.",
    "libclang_rt.asan", "libclang_rt.hwasan", "libclang_rt.tsan", "libclang_rt.memprof"};

// True if a value of LD_PRELOAD names a sanitizer's library: any program with it is of kind Sanitized.
[[nodiscard]] inline bool preloads_sanitizer(const char* list) noexcept {
  const char* name = list;  // the entry's, after its last slash
  for (const char* at = list; *at; ++at) {
    if (*at == ':' || *at == ' ' || *at == '/') name = at + 1;
    if (at != name) continue;
    for (const char* known : kSanitizerLibraries) {
      size_t i = 0;
      while (known[i] && name[i] == known[i]) ++i;
      // The rest of the entry must not contain a slash: the match would be a folder.
      if (known[i]) continue;
      while (name[i] && name[i] != ':' && name[i] != ' ' && name[i] != '/') ++i;
      if (name[i] != '/') return true;
    }
  }
  return false;
}

}  // namespace hpcrun
