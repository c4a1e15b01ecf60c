#include "hpcrun/guest/own_process.h"

namespace hpcrun {

constinit thread_local int program_of_converted_thread = 0;

}  // namespace hpcrun
