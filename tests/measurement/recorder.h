#pragma once
// Test support: a measurement written by the runtime's own code outside any measured program.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "hpcrun/cct/cct.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/measurement/writer.h"

namespace prof::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "prof-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class RecordedThread {
 public:
  RecordedThread(hpcrun::MeasurementFile& file, uint32_t index) {
    if (!tree.attach(file, arena, index) || !trace.attach(file, arena, index)) {
      throw std::runtime_error("no memory for a thread");
    }
  }
  ~RecordedThread() { arena.release_all(); }
  RecordedThread(const RecordedThread&) = delete;
  RecordedThread& operator=(const RecordedThread&) = delete;

  void seal() {
    tree.seal();
    trace.seal();
  }

  hpcrun::Arena arena;
  hpcrun::CallingContextTree tree;
  hpcrun::Trace trace;
};

constexpr uint64_t kStartMonotonic = 5'000'000'000;
constexpr uint64_t kStartRealtime = 1'700'000'000'000'000'000;

inline hpcrun::ProcessInfo process_info() {
  return {"app --flag",
          "/usr/bin/app",
          "node17",
          4242,
          4200,
          3,
          kStartRealtime,
          kStartMonotonic,
          "OMP_NUM_THREADS=2\nLANG=C"};
}

class Recorder {
 public:
  explicit Recorder(const std::filesystem::path& path, const hpcrun::ProcessInfo& process = process_info())
      : path_(path) {
    if (const int error = file.create(path.c_str(), process); error != 0) {
      throw std::runtime_error("create: errno " + std::to_string(error));
    }
  }
  ~Recorder() { file.detach(); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  RecordedThread& add_thread() { return threads.emplace_back(file, static_cast<uint32_t>(threads.size())); }
  void finish(uint64_t end_monotonic_ns = kStartMonotonic + 1'000'000'000) {
    for (RecordedThread& thread : threads) thread.seal();
    file.finish(end_monotonic_ns);
  }
  const std::filesystem::path& path() const { return path_; }

  hpcrun::MeasurementFile file;
  std::deque<RecordedThread> threads;

 private:
  std::filesystem::path path_;
};

// A small random number generator with the same sequence on every platform.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  uint64_t below(uint64_t limit) { return (next() >> 11) % limit; }

 private:
  uint64_t state_;
};

}  // namespace prof::test
