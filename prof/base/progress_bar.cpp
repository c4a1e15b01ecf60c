#include "prof/base/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "prof/base/message.h"
#include "prof/base/terminal.h"

namespace prof {
namespace {

constexpr auto kFirstAfter = std::chrono::milliseconds(500);
constexpr auto kUpdateInterval = std::chrono::milliseconds(100);
constexpr size_t kWidest = 80;

bool can_draw() {
  const char* terminal = getenv("TERM");
  return !is_quiet() && isatty(STDERR_FILENO) && terminal && std::string_view(terminal) != "dumb";
}

}  // namespace

ProgressBar::ProgressBar()
    : enabled_(can_draw()),
      columns_(std::min(terminal_columns(stderr), kWidest)),
      first_(Clock::now() + kFirstAfter),
      next_(first_) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(std::string_view stage, size_t done, size_t total) {
  if (!enabled_) return;
  const std::lock_guard guard(mutex_);
  const Clock::time_point now = Clock::now();
  if (now < (done >= total ? first_ : next_)) return;
  if (stage == stage_ && done <= done_) return;  // another thread was faster
  next_ = now + kUpdateInterval;
  drawn_ = true;
  stage_ = stage;
  done_ = done;
  std::fputs(("\r\033[K" + progress_line(stage, done, total, columns_)).c_str(), stderr);
}

std::string progress_line(std::string_view stage, size_t done, size_t total, size_t columns) {
  constexpr size_t kStage = 22;
  constexpr size_t kAround = kStage + 10;  // stage, brackets, percentage, and one column for the cursor
  const double share =
      total == 0 ? 1 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  const size_t width = columns > kAround + 10 ? columns - kAround : 10;
  const auto filled = static_cast<size_t>(share * static_cast<double>(width));
  return fmt::format("{:<{}} [{:<{}}] {:3.0f} %", stage, kStage, std::string(filled, '#'), width,
                     share * 100);
}

}  // namespace prof
