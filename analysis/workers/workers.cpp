#include "analysis/workers/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <thread>

#include "analysis/files/folder.h"

namespace prof {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::microseconds kFirstPoll = 200us, kLastPoll = 50ms;
constexpr auto kSignOfLife = 3s;  // of another analysis on another machine, which writes every second

// Sleeps longer the longer it has waited, so that it is late by only a small part of that time.
class Poll {
 public:
  void operator()() {
    const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start_);
    std::this_thread::sleep_for(std::clamp(waited / 20, kFirstPoll, kLastPoll));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// The time for which a network file system may show a complete file as incomplete.
constexpr auto kWholeWithin = 5s;

constexpr char kInputs[] = "inputs", kWelcome[] = "welcome", kFailed[] = "failed", kDied[] = "died";

std::string hello_of(int rank) {
  return fmt::format("hello.{}", rank);
}

std::string joined_of(int rank) {
  return fmt::format("joined.{}", rank);
}

template <typename T>
std::string packed(const T& value) {
  Packer out;
  out(value);
  return out.bytes();
}

// Returns nullopt if it was written by another version of prof.
template <typename T>
std::optional<T> unpacked(const std::string& bytes) {
  try {
    Unpacker in(bytes);
    T value = in.get<T>();
    in.end();
    return value;
  } catch (const DamagedPart&) {
    return std::nullopt;
  }
}

// Throws WorkersError if another analysis is active in a folder.
void require_nobody(const SharedFolder& folder) {
  const std::optional<std::string> welcome = folder.read(kWelcome);
  if (!welcome) return;
  std::vector<Member> others = unpacked<std::vector<Member>>(*welcome).value_or(std::vector<Member>());
  // An analysis by another version of prof can only be detected, not identified.
  if (others.empty()) others.push_back({.host = "another machine"});
  const Member& first = others.front();
  const std::string sign = folder.read("alive.0").value_or("");
  if (!first.is_here()) std::this_thread::sleep_for(kSignOfLife);
  const bool lives = first.is_here() ? !first.has_ended() : folder.read("alive.0").value_or("") != sign;
  if (lives)
    throw WorkersError(fmt::format(
        "{} is being written by process {} on {}; wait for it to end, or choose another database with -o",
        folder.path().string(), first.pid, first.host));
}

// Returns the rank in a file's text if it is below `size`.
std::optional<int> rank_in(const std::string& text, int size) {
  int rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc() || end != text.data() + text.size() || rank < 0 || rank >= size)
    return std::nullopt;
  return rank;
}

}  // namespace

AnalysisWorkers& AnalysisWorkers::alone() {
  static AnalysisWorkers workers;
  return workers;
}

AnalysisWorkers::AnalysisWorkers(Setup setup)
    : setup_(std::move(setup)),
      folder_(std::make_unique<SharedFolder>(setup_.folder)),
      self_(Member::self()) {
  self_.program = setup_.program;
  try {
    if (setup_.resume) remove_damaged();
    if (is_first()) {
      open();
      welcome();
    } else {
      be_welcome();
    }
  } catch (const std::system_error& error) {  // includes errors of the file system
    throw WorkersError(fmt::format("{}: cannot write: {}; choose another directory with -o",
                                   setup_.folder.parent_path().string(), error.code().message()));
  }
  require_same_program();
  joined_ = true;
  heartbeat_ = std::make_unique<Heartbeat>(*folder_, rank());
  for (int other = 0; other < size(); ++other)
    watches_.emplace_back(*folder_, members_[static_cast<size_t>(other)], other);
}

AnalysisWorkers::~AnalysisWorkers() {
  heartbeat_.reset();
  if (!joined_ || finished_ || keeps_folder_) return;
  try {
    if (is_own_failure()) folder_->write(kFailed, std::to_string(rank()));
  } catch (const std::system_error&) {
    // The others will notice that the folder is gone, or that this process is.
  }
  if (is_first()) folder_->remove_all();
}

void AnalysisWorkers::finish() {
  finished_ = true;
  heartbeat_.reset();
  if (is_shared() && is_first()) folder_->remove_all();
}

bool AnalysisWorkers::is_own_failure() const {
  if (!is_shared()) return true;
  return folder_->refresh() &&
         folder_->read(kFailed).value_or(std::to_string(rank())) == std::to_string(rank());
}

void AnalysisWorkers::remove_abandoned(const std::filesystem::path& path) {
  const SharedFolder folder(path);
  if (!folder.refresh()) return;
  require_nobody(folder);
  folder.remove_all();
}

void AnalysisWorkers::open() {
  require_nobody(*folder_);
  const std::string inputs = fmt::format("{} processes\n{}", size(), setup_.inputs ? setup_.inputs() : "");
  resumes_ = setup_.resume && folder_->read(kInputs) == inputs;
  if (!resumes_) folder_->remove_all();
  try {
    Folder::make(folder_->path());
  } catch (const WriteError& error) {
    throw WorkersError(error.what());
  }
  for (int other = 0; other < size(); ++other) {
    folder_->remove(hello_of(other));
    folder_->remove(joined_of(other));
    folder_->remove(fmt::format("alive.{}", other));
  }
  folder_->remove(kWelcome);
  folder_->remove(kFailed);
  folder_->remove(kDied);
  folder_->write(kInputs, inputs);
}

// The folder has to stay until all have read the welcome. If it is gone later, the others conclude that the
// first process failed.
void AnalysisWorkers::welcome() {
  members_.assign(1, self_);
  const Clock::time_point start = Clock::now();
  for (int other = 1; other < size(); ++other) {
    // Another version of prof may write another format; then it is only known to be a different one.
    const std::string hello = await(hello_of(other), other, start);
    members_.push_back(
        unpacked<Member>(hello).value_or(Member{.host = "some node", .program = "another prof"}));
  }
  folder_->write(kWelcome, packed(members_));
  for (int other = 1; other < size(); ++other) await(joined_of(other), other, start);
}

std::string AnalysisWorkers::await(const std::string& name, int other, Clock::time_point start) {
  for (Poll poll;; poll()) {
    folder_->refresh();
    if (auto text = folder_->read(name)) return std::move(*text);
    if (std::chrono::duration<double>(Clock::now() - start).count() <= setup_.patience_s) continue;
    folder_->remove_all();
    throw WorkersError(
        fmt::format("process {} of {} did not join in {}; start all processes with the same directories, and "
                    "name a database that all nodes can access with -o",
                    other, size(), setup_.folder.parent_path().string()));
  }
}

// Repeats the hello, because the first process removes what it finds, including a hello that came early.
void AnalysisWorkers::be_welcome() {
  const Clock::time_point start = Clock::now();
  const std::string hello = packed(self_);
  for (Poll poll;; poll()) {
    if (std::chrono::duration<double>(Clock::now() - start).count() > setup_.patience_s)
      throw WorkersError(
          fmt::format("process {} of {} on {} found no other process in {}; name a database that all nodes "
                      "can access with -o",
                      rank(), size(), self_.host, setup_.folder.parent_path().string()));
    if (!folder_->refresh()) continue;
    if (const auto welcome = folder_->read(kWelcome)) {
      members_ = unpacked<std::vector<Member>>(*welcome).value_or(std::vector<Member>());
      const auto own = static_cast<size_t>(rank());
      if (members_.size() == static_cast<size_t>(size()) && members_[own].nonce == self_.nonce)
        return folder_->write(joined_of(rank()), "");
    }
    if (folder_->read(hello_of(rank())) == hello) continue;
    try {
      folder_->write(hello_of(rank()), hello);
    } catch (const std::system_error&) {
      // The folder was removed in the meantime.
    }
  }
}

// Removes damaged parts that an earlier analysis left, before others know of this process. Parts that they
// find damaged later were damaged in between.
void AnalysisWorkers::remove_damaged() const {
  const std::string own = fmt::format(".{}", rank());
  for (const std::string& name : folder_->names())
    if (name.ends_with(own) && name != hello_of(rank()) && !folder_->read(name)) folder_->remove(name);
}

void AnalysisWorkers::require_same_program() {
  const auto other = std::ranges::find_if(
      members_, [&](const Member& member) { return member.program != members_.front().program; });
  if (other == members_.end()) return;
  if (!is_first()) throw WorkersError("");
  folder_->remove_all();
  throw WorkersError(
      fmt::format("process {} on {} is {}, but process 0 is {}; start the same prof on all nodes",
                  other - members_.begin(), other->host, other->program, self_.program));
}

int AnalysisWorkers::sharing_processors() const {
  return static_cast<int>(std::max<ptrdiff_t>(1, std::ranges::count_if(members_, [&](const Member& member) {
                                                return member.host == self_.host &&
                                                       member.processors == self_.processors;
                                              })));
}

std::string AnalysisWorkers::name_of(const std::string& step, int rank) {
  return fmt::format("{}.{}", step, rank);
}

void AnalysisWorkers::give(const std::string& step, const std::string& part) {
  try {
    folder_->write(name_of(step, rank()), part);
  } catch (const std::system_error& error) {
    if (!is_own_failure()) throw WorkersError("");
    throw WorkersError(
        fmt::format("{}: cannot write: {}; free disk space, or choose another directory with -o",
                    folder_->path().string(), error.code().message()));
  }
}

std::optional<std::string> AnalysisWorkers::heard(const std::string& what, int rank) const {
  return folder_->refresh() ? folder_->read(name_of(what, rank)) : std::nullopt;
}

void AnalysisWorkers::wait(int rank, const std::function<bool()>& until) {
  for (Poll poll; !until(); poll()) {
    if (!folder_->refresh() || folder_->has(kFailed)) throw WorkersError("");
    require_life(rank);
  }
}

void AnalysisWorkers::pass(const std::string& step) {
  if (is_shared()) give(step, "");
}

bool AnalysisWorkers::has_passed(const std::string& step) const {
  return is_shared() && folder_->refresh() && folder_->read(name_of(step, 0)).has_value();
}

// The nonce distinguishes them from what processes of an earlier analysis left.
void AnalysisWorkers::leave() {
  if (!is_shared()) return;
  if (!is_first()) return give("left", std::to_string(self_.nonce));
  for (int other = 1; other < size(); ++other) {
    const std::string nonce = std::to_string(members_[static_cast<size_t>(other)].nonce);
    for (Poll poll; folder_->refresh() && folder_->read(name_of("left", other)) != nonce; poll()) {
      if (folder_->has(kFailed)) throw WorkersError("");
      require_life(other);
    }
  }
}

std::string AnalysisWorkers::take(const std::string& step, int other) {
  const std::string name = name_of(step, other);
  std::optional<Clock::time_point> damaged_since;
  for (Poll poll;; poll()) {
    const bool is_there = folder_->refresh();
    if (auto part = folder_->read(name)) return std::move(*part);
    if (!is_there || folder_->has(kFailed)) throw WorkersError("");
    require_life(other);
    if (!folder_->has(name)) continue;
    if (!damaged_since) damaged_since = Clock::now();
    if (Clock::now() - *damaged_since > kWholeWithin)
      throw WorkersError(fmt::format("{}: differs from the data written; choose another directory with -o",
                                     (folder_->path() / name).string()));
  }
}

void AnalysisWorkers::refuse(const std::string& step, int other, const char* why) const {
  throw WorkersError(fmt::format("{}: was not written by this prof: {}; analyze again, without --resume",
                                 (folder_->path() / name_of(step, other)).string(), why));
}

void AnalysisWorkers::require_life(int other) {
  std::optional<int> dead;
  if (const std::optional<std::string> said = folder_->read(kDied)) {
    dead = rank_in(*said, size()).value_or(other);
  } else if (watches_[static_cast<size_t>(other)].has_died()) {
    dead = other;
    try {
      folder_->write(kDied, std::to_string(other));
    } catch (const std::system_error&) {
      // The others will find out themselves.
    }
  }
  if (!dead) return;
  keeps_folder_ = true;
  const int number = *dead;
  if (rank() != (number == 0 ? 1 : 0)) throw WorkersError("");  // only one process reports it
  throw WorkersError(
      fmt::format("process {} of {} on {} was killed; continue with `prof analyze --resume`, the same "
                  "directories and as many processes",
                  number, size(), members_[static_cast<size_t>(number)].host));
}

std::pair<size_t, size_t> share_of(const std::vector<uint64_t>& weights, int rank, int size) {
  uint64_t all = weights.size();  // each piece has a minimum weight
  for (const uint64_t weight : weights) all += weight;
  // A piece that contains the end of a share belongs to that share if at least half of it lies there.
  const auto begin_of = [&](int share) {
    uint64_t before = 0;
    size_t piece = 0;
    const double target = static_cast<double>(all) * share / size;
    while (piece < weights.size() &&
           static_cast<double>(before) + static_cast<double>(weights[piece] + 1) / 2 <= target)
      before += weights[piece++] + 1;
    return share == size ? weights.size() : piece;
  };
  return {begin_of(rank), begin_of(rank + 1)};
}

}  // namespace prof
