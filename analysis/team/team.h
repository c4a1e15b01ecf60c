#pragma once
// The processes that do one analysis together, as `mpirun -n 4 prof analyze DIR` starts them. All of them run
// the same code and come to the same steps in the same order; in a step each computes its share of the work,
// and gets what the others computed. They need nothing in common but a folder that all of them see, beside
// the database, in which they leave each other files: so it does not matter which MPI started them, and
// what was computed when one of them was killed is there for those that go on later.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/team/liveness.h"
#include "analysis/team/packing.h"
#include "analysis/team/shared_folder.h"

namespace prof {

// what() is one line, or empty where another process says it.
class TeamError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Team {
 public:
  struct Place {
    std::filesystem::path folder;  // of the team alone; only the folder that it is in has to be there
    int rank = 0;
    int size = 1;
    std::string program = {};  // all have to have the same
    bool resume = false;       // goes on with what is in the folder, where it was made of the same inputs
    // Of the first process: what the result depends on, as any text.
    std::function<std::string()> inputs;
    double patience_s = 120;  // for the others to come
  };

  // A process alone, which leaves nothing.
  Team() = default;
  // Waits for the others. Throws TeamError.
  explicit Team(Place place);
  // Where finish() was not called the others end as well. The folder stays where a process has died.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  static Team& alone();
  // Removes what a team that was killed has left. Throws TeamError where one is at work there.
  static void remove_abandoned(const std::filesystem::path& folder);

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  bool is_first() const { return place_.rank == 0; }
  bool is_shared() const { return folder_ != nullptr; }
  // Of the first process: steps of an earlier analysis are there.
  bool resumes() const { return resumes_; }
  // How many of them, this one too, may use the processors that this one may use.
  int sharing_processors() const;
  // False where another process failed, which says why.
  bool is_own_failure() const;

  // What all may write to; with is_shared().
  const std::filesystem::path& folder() const { return folder_->path(); }

  // compute() this process's share of a step, and load() what each of the others has saved of theirs: save()
  // gets a Packer, and load() an Unpacker and the rank of who saved it. Where an earlier analysis got as far
  // as this, the own share is loaded as well. Alone there is only compute(). Throws TeamError, also for what
  // load() refuses (Unpacker::require) or leaves.
  template <typename Compute, typename Save, typename Load>
  void share(const std::string& step, Compute compute, Save save, Load load) {
    exchange(step, compute, save, load, true);
  }
  // The same where only the first process needs what the others have.
  template <typename Compute, typename Save, typename Load>
  void collect(const std::string& step, Compute compute, Save save, Load load) {
    exchange(step, compute, save, load, is_first());
  }
  // What the first process makes: all have it, and check it with require() where it names something.
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

  // In the midst of a step: what this process has to say, in place of what it said before, and what another
  // one has said, also in an earlier analysis that this one goes on with. Throw TeamError.
  void say(const std::string& what, const std::string& words) { give(what, words); }
  std::optional<std::string> heard(const std::string& what, int rank) const;
  // Looks until() it is so, which is for another process to do. Throws TeamError where that one has ended.
  void wait(int rank, const std::function<bool()>& until);

  // Of the first process, when all have done their shares of the steps so far: an analysis that goes on here
  // needs none of what they made, and is behind it. Nothing where a process is alone. Throws TeamError.
  void pass(const std::string& step);
  // Whether this analysis, or the one that it goes on with, has passed it.
  bool has_passed(const std::string& step) const;

  // Throws TeamError where what `rank` has said in a step cannot be.
  void require(bool holds, const std::string& step, int rank, const char* otherwise) const {
    if (!holds) refuse(step, rank, otherwise);
  }

  // By each process when it needs the folder and what is in it no longer; the first waits until none of the
  // others does. They may be steps behind it, where all that it needs of them was left by an earlier
  // analysis. Throws TeamError.
  void leave();

  // Of the first process, when all is done and the others have left: removes the folder. Of the others, when
  // they have left.
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
  void be_welcome();  // by another
  void remove_damaged() const;
  void require_same_program();
  void require_life(int rank);

  Place place_;
  std::unique_ptr<SharedFolder> folder_;
  Member self_;
  std::vector<Member> members_;
  std::vector<Watch> watches_;
  std::unique_ptr<Heartbeat> heartbeat_;
  bool resumes_ = false, finished_ = false, joined_ = false;
  bool keeps_folder_ = false;
};

// The pieces of work of process `rank` of `size`, which follow each other: from the first number to before
// the second. All get about the same weight.
std::pair<size_t, size_t> share_of(const std::vector<uint64_t>& weights, int rank, int size);

}  // namespace prof
