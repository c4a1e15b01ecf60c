#include "hpcrun/measurement/thread_name.h"

#include <algorithm>
#include <cstring>

namespace hpcrun {
namespace {

struct Words {
  uint64_t word[2] = {};
};

Words words_of(const char* name) noexcept {
  Words words;
  std::memcpy(words.word, name, strnlen(name, sizeof words - 1));
  return words;
}

}  // namespace

void ThreadName::begin(const char* name) noexcept {
  const Words words = words_of(name);
  for (int i = 0; i < 2; ++i) words_[i].store(words.word[i], std::memory_order_relaxed);
}

bool ThreadName::is(const char* name) const noexcept {
  const Words words = words_of(name);
  return words_[0].load(std::memory_order_relaxed) == words.word[0] &&
         words_[1].load(std::memory_order_relaxed) == words.word[1];
}

bool ThreadName::may_write(uint64_t now) noexcept {
  uint64_t next = next_write_ns_.load(std::memory_order_relaxed);
  next = std::max(next, now - std::min(now, kAtOnce * kPeriodNs));
  if (next > now) return false;
  next_write_ns_.store(next + kPeriodNs, std::memory_order_relaxed);
  return true;
}

void ThreadName::note(MeasurementFile& file, uint32_t thread, const char* name, uint64_t now) noexcept {
  if (!is(name) && may_write(now)) note_last(file, thread, name, now);
}

void ThreadName::note_last(MeasurementFile& file, uint32_t thread, const char* name, uint64_t now) noexcept {
  if (is(name)) return;
  begin(name);
  file.write_thread_name(thread, now, name);
}

}  // namespace hpcrun
