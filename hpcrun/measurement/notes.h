#pragma once
// Defines how notes of the runtime start that views repeat, because they say what the view does not show.

namespace hpcrun {

constexpr char kContentionNotePrefix[] = "Contention ";

}  // namespace hpcrun
