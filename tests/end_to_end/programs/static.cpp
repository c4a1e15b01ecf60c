// Uses CPU time and time for longer than any clock's period, linked statically.

#include <unistd.h>

#include "spin.h"

int main() {
  spin(0.01);
  usleep(10'000);
  return 5;
}
