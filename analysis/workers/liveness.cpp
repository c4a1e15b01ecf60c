#include "analysis/workers/liveness.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <random>
#include <system_error>

namespace prof {
namespace {

using namespace std::chrono_literals;

constexpr auto kBeatInterval = 1s;
// Longer than a network file system may hide what others wrote.
constexpr auto kLivenessTimeout = 90s;

std::string sign_of(int rank) {
  return fmt::format("alive.{}", rank);
}

std::string processors_of_this_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string words;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return words;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) words += CPU_ISSET(cpu, &set) ? '1' : '0';
  return words;
}

// True also for a zombie, whose parent has not waited for it.
bool has_process_ended(int32_t pid) {
  if (::kill(pid, 0) != 0) return errno == ESRCH;
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  const char state = text[name_end + 2];
  return state == 'Z' || state == 'X';
}

}  // namespace

Member Member::self() {
  Member self;
  std::array<char, 256> text{};
  if (gethostname(text.data(), text.size() - 1) == 0) self.host = text.data();
  text.fill(0);
  if (readlink("/proc/self/ns/pid", text.data(), text.size() - 1) > 0) self.pid_space = text.data();
  self.pid = getpid();
  self.processors = processors_of_this_process();
  std::random_device random;
  self.nonce = uint64_t{random()} << 32 | random();
  return self;
}

bool Member::is_here() const {
  static const Member here = self();
  return host == here.host && pid_space == here.pid_space;
}

bool Member::has_ended() const {
  return is_here() && has_process_ended(pid);
}

Heartbeat::Heartbeat(SharedFolder folder, int rank)
    : folder_(std::move(folder)), rank_(rank), thread_([this] { beat(); }) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard guard(lock_);
    over_ = true;
  }
  is_over_.notify_all();
  thread_.join();
}

void Heartbeat::beat() {
  std::unique_lock guard(lock_);
  for (uint64_t count = 0; !over_; ++count) {
    try {
      folder_.write(sign_of(rank_), std::to_string(count));
    } catch (const std::system_error&) {
      // A process that cannot write will report more important errors.
    }
    is_over_.wait_for(guard, kBeatInterval, [this] { return over_; });
  }
}

Watch::Watch(const SharedFolder& folder, Member other, int rank)
    : folder_(folder),
      other_(std::move(other)),
      rank_(rank),
      last_change_(Clock::now()),
      next_look_(last_change_ + kBeatInterval) {}

bool Watch::has_died() {
  const Clock::time_point now = Clock::now();
  if (now < next_look_) return false;
  next_look_ = now + kBeatInterval;
  if (other_.has_ended()) return true;
  const std::string sign = folder_.read(sign_of(rank_)).value_or("");
  if (sign != last_sign_) {
    last_sign_ = sign;
    last_change_ = now;
  }
  return now - last_change_ > kLivenessTimeout;
}

}  // namespace prof
