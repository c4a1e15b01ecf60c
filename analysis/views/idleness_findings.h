#pragma once
// What the tables of idleness come to, as one plain sentence for each place that is worth a change.

#include "analysis/views/idleness.h"

namespace prof {

// Fills in `findings` from the other members.
void add_idleness_findings(Idleness& idleness);

}  // namespace prof
