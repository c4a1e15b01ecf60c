#pragma once
// What the fixture says of itself: the address and size of an expression, as the compiler sees them.

#include <cstddef>

struct Truth {
  const char* variable;
  const char* path;
  const void* address;
  size_t bytes;
};

struct Truths {
  const Truth* begin;
  size_t count;
};
