#pragma once
// Records of the fixture about itself: the address and size of an expression, as the compiler computes them.

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
