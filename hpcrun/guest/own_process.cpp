#include "hpcrun/guest/own_process.h"

namespace hpcrun {

constinit thread_local int program_of_twin = 0;

}  // namespace hpcrun
