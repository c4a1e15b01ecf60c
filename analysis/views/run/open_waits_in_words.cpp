#include "analysis/views/run/open_waits_in_words.h"

#include <fmt/format.h>

#include "analysis/run/spelling.h"
#include "analysis/views/run/locks_in_words.h"
#include "analysis/views/tree/code_in_words.h"

namespace prof {
namespace {

std::string thread_in_words(int32_t id, const std::string& name) {
  return name.empty() ? fmt::format("thread {}", id) : fmt::format("thread {} ({})", id, name);
}

std::string waited_lock(const OpenWaitRecord& wait) {
  return wait.name.empty() ? fmt::format("the {} at {:#x}", name_of(wait.kind), wait.address) : wait.name;
}

}  // namespace

std::string open_wait_in_words(const CallTree& tree, const OpenWaitRecord& wait) {
  std::string text = fmt::format("{} waited for {} in {}", thread_in_words(wait.thread, wait.thread_name),
                                 waited_lock(wait), code_in_words(user_of_lock(tree, wait.context)));
  if (wait.holder <= 0) return text;
  if (wait.holder == wait.thread) return text + ", which it had itself";
  return text + fmt::format(", which {} had", thread_in_words(wait.holder, wait.holder_name)) +
         (wait.is_confirmed ? "" : " when the wait began");
}

}  // namespace prof
