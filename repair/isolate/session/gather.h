#pragma once

namespace hpcrun {

// Until every task of the process but this one is settled, it is sent the request signal once. Two looks
// have to find the same tasks settled, and the second one as many as there were before it: then nobody was
// left that could make others. A main thread that ended stays among them.
// False: one was not for kPatience, or there are too many (Session::failed). For whoever changes the phase of
// the session.
bool gather(bool (*is_settled)(int tid) noexcept) noexcept;

}  // namespace hpcrun
