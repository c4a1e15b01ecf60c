#include "prof/message.h"

#include <cstdio>

namespace prof {

void say_line(const std::string& line) {
  fmt::print(stderr, "prof: {}\n", line);
}

}  // namespace prof
