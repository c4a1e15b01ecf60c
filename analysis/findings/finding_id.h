#pragma once
// What a finding is known by: the same in each analysis of a run, and in runs of the same program as far as
// what it is about is there in both. Pages and reports select findings by it, never by their words.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/findings/finding_kind.h"
#include "analysis/words/code_frame.h"

namespace prof {

// "lock-queue-lock-3f2a9c01": the kind, what people call the thing it is about, and a checksum of all that
// tells this apart from others of the kind. Lower-case letters, digits and hyphens.
std::string finding_id(FindingKind kind, std::string_view name, std::string_view identity);

// Of a finding about code: by its call path, the innermost frame first.
std::string finding_id(FindingKind kind, const std::vector<CodeFrame>& frames);

// Functions and lines of a call path, to be part of an identity.
std::string identity_of(const std::vector<CodeFrame>& frames);

}  // namespace prof
