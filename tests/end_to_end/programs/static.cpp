// A statically linked program that uses CPU time and waits for longer than any clock's period.

#include <unistd.h>

#include "spin.h"

int main() {
  spin(0.01);
  usleep(10'000);
  return 5;
}
