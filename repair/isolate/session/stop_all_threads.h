#pragma once
// Stops all threads of the process, or waits until they have left a phase, by one signal to each.

namespace hpcrun {

// Sends the request signal once to each task of the process but the calling one, and waits until is_settled()
// is true for all. Two passes over the tasks have to agree, and the second has to find as many as there were
// before it: then no task is left that could create another. A main thread that has ended counts as settled.
// Returns false if a task does not settle for kStopTimeoutNs, or if there are too many (Session::failed).
// For the thread that changes the phase of the session.
bool stop_all_threads(bool (*is_settled)(int tid) noexcept) noexcept;

}  // namespace hpcrun
