#pragma once
// The selected threads and metrics of a database, as a user names them. Used by every view.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

enum class SelectionFailure : uint8_t { UnknownMetric, UnknownThread };

// what() is one line with the possible choices.
class SelectionError : public std::runtime_error {
 public:
  SelectionError(SelectionFailure failure, const std::string& message)
      : std::runtime_error(message), failure_(failure) {}
  SelectionFailure failure() const { return failure_; }

 private:
  SelectionFailure failure_;
};

struct Selection {
  std::vector<uint32_t> metrics;   // indices into Database::metrics; the first one orders the views
  std::vector<uint32_t> profiles;  // indices into Database::profiles, rising
  bool every_profile = true;       // the database's own sums over profiles are valid
};

// Selects metrics by name (case does not matter). If none is given, selects all that are not zero everywhere,
// or all if all are zero. Selects threads by index in their process ("0"), by "rank.thread" ("process.thread"
// if there is no rank), or by name; each may be a shell pattern. If none is given, selects all. Throws
// SelectionError.
Selection select(const Database& database, const std::vector<std::string>& metrics,
                 const std::vector<std::string>& threads);

// By metric, then by frame or context.
using CostColumns = std::vector<std::vector<Cost>>;

// The exclusive costs in the selected profiles: [position in metrics][context].
CostColumns context_costs(const Database& database, const Selection& selection);

// Returns "0.3 worker": rank and thread as --thread accepts them, and the name if it has one.
std::string thread_label(const Database& database, uint32_t profile);
// The same for sentences: "0.2 (worker)"
std::string format_thread(const Database& database, uint32_t profile);

}  // namespace prof
