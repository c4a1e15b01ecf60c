#pragma once
// The processes that do one analysis together, as started by `mpirun -n 4 prof analyze DIR`. All run the same
// code and reach the same steps in the same order. In a step, each computes its share of the work and gets
// what the others computed. They exchange files in a folder next to the database, which all of them can
// access, and need nothing else in common. So any MPI can start them, and what was computed before one of
// them was killed is available to an analysis that resumes.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/workers/liveness.h"
#include "analysis/workers/packing.h"
#include "analysis/workers/shared_folder.h"

namespace prof {

// what() is one line; empty if another process reports the error.
class WorkersError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class AnalysisWorkers {
 public:
  struct Setup {
    std::filesystem::path folder;  // of these workers alone; only its parent has to exist
    int rank = 0;
    int size = 1;
    std::string program = {};  // must be the same in all processes
    bool resume = false;       // continue with what is in the folder, if it was made from the same inputs
    // Called in the first process: what the result depends on, as any text.
    std::function<std::string()> inputs;
    double patience_s = 120;  // how long to wait for the others to join
  };

  // A single process, which writes nothing.
  AnalysisWorkers() = default;
  // Waits for the others. Throws WorkersError.
  explicit AnalysisWorkers(Setup setup);
  // Without finish(), the others end as well. Keeps the folder if a process has died.
  ~AnalysisWorkers();
  AnalysisWorkers(const AnalysisWorkers&) = delete;
  AnalysisWorkers& operator=(const AnalysisWorkers&) = delete;

  static AnalysisWorkers& alone();
  // Removes what killed workers left. Throws WorkersError if others are active there.
  static void remove_abandoned(const std::filesystem::path& folder);

  int rank() const { return setup_.rank; }
  int size() const { return setup_.size; }
  bool is_first() const { return setup_.rank == 0; }
  bool is_shared() const { return folder_ != nullptr; }
  // For the first process: true if steps of an earlier analysis exist.
  bool resumes() const { return resumes_; }
  // Returns how many of the processes, including this one, share its processors.
  int sharing_processors() const;
  // Returns false if another process failed, which reports the error.
  bool is_own_failure() const;

  // Returns the folder that all may write to; requires is_shared().
  const std::filesystem::path& folder() const { return folder_->path(); }

  // Calls compute() for this process's share of a step, and load() for what each of the others saved of
  // theirs. save() gets a Packer; load() gets an Unpacker and the rank that saved. If an earlier analysis
  // completed this step, loads this process's share as well. A single process only calls compute(). Throws
  // WorkersError, also if load() rejects the data (Unpacker::require) or leaves some.
  template <typename Compute, typename Save, typename Load>
  void share(const std::string& step, Compute compute, Save save, Load load) {
    exchange(step, compute, save, load, true);
  }
  // The same for a step in which only the first process needs the others' results.
  template <typename Compute, typename Save, typename Load>
  void collect(const std::string& step, Compute compute, Save save, Load load) {
    exchange(step, compute, save, load, is_first());
  }
  // Distributes what the first process makes to all. They check with require() what refers to something.
  template <typename Make, typename... T>
  void from_first(const std::string& step, Make make, T&... made) {
    if (!is_shared()) return make();
    const auto load = [&](Unpacker& in, int) { in(made...); };
    if (!is_first()) {
      unpack(step, 0, take(step, 0), load);
    } else if (const auto own = folder_->read(name_of(step, 0))) {
      unpack(step, 0, *own, load);
    } else {
      make();
      Packer out;
      out(made...);
      give(step, out.bytes());
    }
  }

  // Communicate within a step. say() replaces what this process said before; heard() returns what another one
  // said, also in an earlier analysis that this one continues. Throw WorkersError.
  void say(const std::string& what, const std::string& words) { give(what, words); }
  std::optional<std::string> heard(const std::string& what, int rank) const;
  // Polls until() another process has made it true. Throws WorkersError if that process has ended.
  void wait(int rank, const std::function<bool()>& until);

  // Must be called by the first process after all have done their shares of the steps so far. An analysis
  // that resumes after this point needs none of their results. Does nothing for a single process. Throws
  // WorkersError.
  void pass(const std::string& step);
  // True if this analysis, or the one that it continues, has passed the step.
  bool has_passed(const std::string& step) const;

  // Throws WorkersError if what `rank` said in a step is invalid.
  void require(bool holds, const std::string& step, int rank, const char* otherwise) const {
    if (!holds) refuse(step, rank, otherwise);
  }

  // Must be called by each process once it no longer needs the folder and its contents. The first process
  // waits for all others. They may be several steps behind, if an earlier analysis left all that it needs of
  // them. Throws WorkersError.
  void leave();

  // Must be called by the first process when all is done and the others have left: removes the folder. Must
  // be called by the others when they have left.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  template <typename Compute, typename Save, typename Load>
  void exchange(const std::string& step, Compute compute, Save save, Load load, bool takes) {
    if (!is_shared()) return compute();
    if (const auto own = folder_->read(name_of(step, rank()))) {
      unpack(step, rank(), *own, load);
    } else {
      compute();
      Packer out;
      save(out);
      give(step, out.bytes());
    }
    if (!takes) return;
    for (int other = 0; other < size(); ++other)
      if (other != rank()) unpack(step, other, take(step, other), load);
  }

  template <typename Load>
  void unpack(const std::string& step, int rank, const std::string& part, Load load) const {
    try {
      Unpacker in(part);
      load(in, rank);
      in.end();
    } catch (const DamagedPart& damage) {
      refuse(step, rank, damage.what());
    }
  }
  [[noreturn]] void refuse(const std::string& step, int rank, const char* why) const;

  static std::string name_of(const std::string& step, int rank);
  void give(const std::string& step, const std::string& part);
  std::string take(const std::string& step, int rank);
  void open();     // by the first process
  void welcome();  // by the first process
  std::string await(const std::string& name, int other, Clock::time_point start);
  void be_welcome();  // by the others
  void remove_damaged() const;
  void require_same_program();
  void require_life(int rank);

  Setup setup_;
  std::unique_ptr<SharedFolder> folder_;
  Member self_;
  std::vector<Member> members_;
  std::vector<Watch> watches_;
  std::unique_ptr<Heartbeat> heartbeat_;
  bool resumes_ = false, finished_ = false, joined_ = false;
  bool keeps_folder_ = false;
};

// Returns the pieces of work of process `rank` of `size`, as a range [first, last). All processes get about
// the same weight.
std::pair<size_t, size_t> share_of(const std::vector<uint64_t>& weights, int rank, int size);

}  // namespace prof
