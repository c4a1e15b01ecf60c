#pragma once
// repair.json: what `prof analyze` proposes to lay out anew in the running program, where runs found
// contention, and what it declines (docs/json.md, "Repairs"). People may edit it; `prof run
// --repair=layout:FILE` turns it into the plan that the runtime reads (hpcrun/measurement/repair_plan.h).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run/allocation_site.h"
#include "hpcrun/model/placement.h"

namespace prof {

// How much faster the program was with it, as `prof run --repair --verify` tried.
struct RepairTrial {
  double ratio = 0;  // time without over time with it, the median of pairs
  uint32_t pairs = 0;

  bool operator==(const RepairTrial&) const = default;
};

// What every repair has.
struct RepairTerms {
  std::string why;        // the finding, a sentence
  std::string declined;   // why it is not made although it could be; empty: it is made
  bool is_given = false;  // by the file with which the program was run, not found by that run
  std::optional<RepairTrial> trial;

  bool operator==(const RepairTerms&) const = default;
};

struct SiteRepair {
  AllocationSite site;
  hpcrun::Placement placement;
  uint64_t conflicts_before = 0;  // accesses, as the runtime saw some of them: for comparing
  uint64_t conflicts_after = 0;
  RepairTerms terms;

  bool operator==(const SiteRepair&) const = default;
};

// Locks whose cache line threads share falsely: in a variable, or in allocations.
struct LockRepair {
  std::string name;  // of the variable; empty: `site` has them
  ModuleAddress variable;
  uint64_t bytes = 0;  // of the variable
  AllocationSite site;
  RepairTerms terms;

  bool operator==(const LockRepair&) const = default;
};

// A finding that no change of the running program helps.
struct DeclinedRepair {
  std::string what;  // the finding, a sentence
  std::string why;

  bool operator==(const DeclinedRepair&) const = default;
};

// Are they of the same data, whatever is to become of that?
bool is_same_data(const SiteRepair& left, const SiteRepair& right);
bool is_same_data(const LockRepair& left, const LockRepair& right);

struct RepairFile {
  std::string program;
  std::vector<SiteRepair> sites;
  std::vector<LockRepair> locks;
  std::vector<DeclinedRepair> declined;

  bool is_empty() const { return sites.empty() && locks.empty(); }
  bool operator==(const RepairFile&) const = default;
};

constexpr char kRepairFile[] = "repair.json";  // in the measurement directory
constexpr std::string_view kRepairSchema = "prof-repair/1";

// what() is one line that names the file, what is wrong and the remedy.
class RepairFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws RepairFileError: not there, no JSON, another schema, a value that is missing or out of range.
RepairFile read_repair_file(const std::filesystem::path& path);
// The same of a text; `name` is what messages call it.
RepairFile parse_repair_file(std::string_view text, const std::string& name);

// Replaces the file, or leaves it as it is. Throws RepairFileError where it cannot be written.
void write_repair_file(const RepairFile& file, const std::filesystem::path& path);
std::string repair_file_text(const RepairFile& file);

// Adds repairs that a run found to those that are known: what was tried or given stays as it is, what an
// earlier analysis found of the same sites is replaced, and what else it found is gone. No more than a file
// may have.
RepairFile merged(const RepairFile& known, RepairFile found);

}  // namespace prof
