#pragma once
// Checks whether a process of an analysis is alive. On this machine the system reports that; on other
// machines each process writes a heartbeat every second.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "analysis/workers/shared_folder.h"

namespace prof {

// Identifies a process for all processes of the analysis.
struct Member {
  std::string host = {};
  std::string pid_space = {};  // the same for processes that share process IDs
  int32_t pid = 0;
  std::string processors = {};  // that it may use
  uint64_t nonce = 0;           // unique to the process
  std::string program = {};     // AnalysisWorkers::Setup::program

  static Member self();
  // True if the process ran on this machine and has ended.
  bool has_ended() const;
  bool is_here() const;  // as seen by this process
};

template <typename Archive>
void fields(Archive& archive, Member& member) {
  auto& [host, pid_space, pid, processors, nonce, program] = member;
  archive(host, pid_space, pid, processors, nonce, program);
}

// Writes heartbeats until it is destroyed.
class Heartbeat {
 public:
  Heartbeat(SharedFolder folder, int rank);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void beat();

  SharedFolder folder_;
  int rank_;
  std::mutex lock_;
  std::condition_variable is_over_;
  bool over_ = false;
  std::thread thread_;
};

// Watches another process.
class Watch {
 public:
  Watch(const SharedFolder& folder, Member other, int rank);
  // Checks at most once a second.
  bool has_died();

 private:
  using Clock = std::chrono::steady_clock;

  const SharedFolder& folder_;
  Member other_;
  int rank_;
  std::string last_sign_;
  Clock::time_point last_change_, next_look_;
};

}  // namespace prof
