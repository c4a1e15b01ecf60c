#pragma once
// Identifies a finding. The id is the same in each analysis of a run, and in different runs of a program that
// have the same problem. Pages and reports select findings by id, never by their words.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/findings/finding_kind.h"
#include "analysis/words/code_frame.h"

namespace prof {

// "lock-queue-lock-3f2a9c01": the kind, the name of the subject, and a checksum of all that distinguishes
// it from other findings of the kind. Lower-case letters, digits and hyphens.
std::string finding_id(FindingKind kind, std::string_view name, std::string_view identity);

// Returns the id of a finding about code, from its call path with the innermost frame first.
std::string finding_id(FindingKind kind, const std::vector<CodeFrame>& frames);

// Returns the functions and lines of a call path, as part of an identity.
std::string identity_of(const std::vector<CodeFrame>& frames);

}  // namespace prof
