#pragma once
// Formats changes of a layout as sentences and as data.

#include <string>
#include <vector>

#include "analysis/contention/separation.h"
#include "analysis/run/contended_record.h"

namespace prof {

// Returns "put alignas(64) before sent (struct Connection, net.h:12); the struct grows from 16 to 128 bytes",
// without a full stop. Empty if there are no changes.
std::string format_changes(const Separation& separation, const TypedObjects& objects);

// Returns a sentence that says why no alignment helps and what does; empty if there is nothing to say.
std::string format_obstacle(const Separation& separation, SourceLanguage language);

std::vector<ContendedRecord::Change> describe_changes(const Separation& separation,
                                                      const TypedObjects& objects);

}  // namespace prof
