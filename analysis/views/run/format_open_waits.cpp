#include "analysis/views/run/format_open_waits.h"

#include <fmt/format.h>

#include "analysis/run/spelling.h"
#include "analysis/views/run/format_locks.h"
#include "analysis/views/tree/format_code.h"

namespace prof {
namespace {

std::string format_thread(int32_t id, const std::string& name) {
  return name.empty() ? fmt::format("thread {}", id) : fmt::format("thread {} ({})", id, name);
}

std::string waited_lock(const OpenWaitRecord& wait) {
  return wait.name.empty() ? fmt::format("the {} at {:#x}", name_of(wait.kind), wait.address) : wait.name;
}

}  // namespace

std::string format_open_wait(const CallTree& tree, const OpenWaitRecord& wait) {
  std::string text = fmt::format("{} waited for {} in {}", format_thread(wait.thread, wait.thread_name),
                                 waited_lock(wait), format_code(user_of_lock(tree, wait.context)));
  if (wait.holder <= 0) return text;
  if (wait.holder == wait.thread) return text + ", which it held itself";
  return text + fmt::format(", which {} held", format_thread(wait.holder, wait.holder_name)) +
         (wait.is_confirmed ? "" : " when the wait began");
}

}  // namespace prof
