#pragma once
// Changes of a layout as sentences and as data.

#include <string>
#include <vector>

#include "analysis/contention/separation.h"
#include "analysis/run/contended_record.h"

namespace prof {

// "put alignas(64) before sent (struct Connection, net.h:12); the struct grows from 16 to 128 bytes", without
// a full stop. Empty without changes.
std::string words_for_changes(const Separation& separation, const TypedObjects& objects);

// Why no alignment helps and what does, as a sentence; empty where nothing can be said.
std::string words_for_obstacle(const Separation& separation, SourceLanguage language);

std::vector<ContendedRecord::Change> describe_changes(const Separation& separation,
                                                      const TypedObjects& objects);

}  // namespace prof
