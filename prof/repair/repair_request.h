#pragma once
// The request of `prof run --repair`, and the plan made from it, which the runtime reads.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/repair/repair_file.h"

namespace prof {

struct RepairRequest {
  bool layout = false;
  bool locks = false;
  bool isolate = false;
  bool isolate_always = false;  // pages without detected sharing, too
  std::filesystem::path file;   // the findings of an earlier run; empty: nothing is known yet

  bool is_for_anything() const { return layout || locks || isolate; }
};

constexpr char kDefaultRepairs[] = "layout,locks";

// Parses KIND[,KIND]...: "layout", "layout:FILE", "locks", "isolate", "isolate:always", or "none". FILE may
// contain commas, and may be the measurement directory that the file is in. Throws CommandError (125) for any
// other kind.
RepairRequest parse_repair_request(const std::string& text);

// Throws CommandError (125) if the kernel of this release is too old for the requested option; `instead` is
// available.
void require_kernel_for_isolation(const std::string& release, const std::string& asked,
                                  const std::string& instead);

struct RepairKindDescription {
  std::string name;
  std::string text;
};
std::vector<RepairKindDescription> list_repairs();

// Return the names used in messages: "allocations of main (app.cpp:9)", "locks in pool".
std::string name_of(const AllocationSite& site);
std::string name_of(const LockRepair& locks);

// Returns the repairs of a file that are requested and fit the present modules. `left_out`: one line for each
// site that does not fit, which names its module.
RepairFile applicable_repairs(const RepairFile& file, const RepairRequest& request,
                              std::vector<std::string>& left_out);

// The repairs of an earlier run that fit the program's present modules.
struct GivenRepairs {
  RepairFile repairs;
  std::vector<std::string> left_out;  // as of applicable_repairs()
  std::string problem;                // why the file cannot be read; empty if it was read, or none is named
};
GivenRepairs read_given_repairs(const RepairRequest& request);

// Formats the plan as the runtime reads it (hpcrun/measurement/repair_plan.h); empty if nothing is to be
// done.
std::string repair_plan(const RepairFile& file);

// Writes the plan to the measurement directory. Throws CommandError (125).
void write_repair_plan(const std::string& plan, const std::filesystem::path& directory);

// Adds the variables from which the runtime and its libraries read the request.
void add_repair_environment(const RepairRequest& request, bool has_plan,
                            std::vector<std::pair<std::string, std::string>>& environment);

// Adds the variables for the allocator that is loaded once a page is isolated. Its thread-local variables
// need room in every thread from the thread's start on, which the loader reserves if GLIBC_TUNABLES requests
// it. `users_tunables`: the user's value of that variable.
void add_isolating_allocator(const std::filesystem::path& allocator, const std::string& users_tunables,
                             std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace prof
