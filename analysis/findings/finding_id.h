#pragma once
// The identity of a finding. It is the same in each analysis of a run, and in other runs of the same program
// if the finding's subject occurs in them. Pages and reports select findings by it, never by their words.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/findings/finding_kind.h"
#include "analysis/words/code_frame.h"

namespace prof {

// "lock-queue-lock-3f2a9c01": the kind, a readable name of the subject, and a checksum that distinguishes it
// from other findings of the kind. Lower-case letters, digits and hyphens.
std::string finding_id(FindingKind kind, std::string_view name, std::string_view identity);

// For a finding about code: by its call path, the innermost frame first.
std::string finding_id(FindingKind kind, const std::vector<CodeFrame>& frames);

// Returns the functions and lines of a call path, as part of an identity.
std::string identity_of(const std::vector<CodeFrame>& frames);

}  // namespace prof
