// Code with known attribution. Tests find lines by their "at:" comments, and functions by their symbols.

#include <cstdlib>

namespace fixture {

volatile unsigned long input = 1;

struct Multiplier {
  unsigned long factor;
  [[gnu::always_inline]] unsigned long apply(unsigned long x) const {
    return input * x * factor;  // at: apply body
  }
};

[[gnu::always_inline]] static inline unsigned long twice(unsigned long x) {
  const Multiplier multiplier{x + 1};
  return multiplier.apply(x) +  // at: twice calls apply
         input;
}

[[gnu::noinline, gnu::visibility("hidden")]] unsigned long work(unsigned long x) {  // at: work
  return twice(x) ^                                                                 // at: work calls twice
         input;                                                                     // at: work body
}

[[gnu::noinline]] static unsigned long unnamed_when_stripped(unsigned long x) {
  return (input % (x + 7)) + input;
}

}  // namespace fixture

extern "C" [[gnu::noinline]] unsigned long exported_entry(const char* text) {
  return fixture::work(std::strtoul(text, nullptr, 10)) + fixture::unnamed_when_stripped(fixture::input);
}

extern "C" unsigned long lambda_host(unsigned long n) {
  const auto add = [n](unsigned long x) __attribute__((noinline)) {
    return fixture::input + x * n;
  };
  return add(n) ^ add(n + 1);
}
