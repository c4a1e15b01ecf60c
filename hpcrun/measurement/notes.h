#pragma once
// How notes of the runtime begin that views repeat, because they say what is missing from what the view
// shows.

namespace hpcrun {

constexpr char kContentionNotePrefix[] = "Contention ";

}  // namespace hpcrun
