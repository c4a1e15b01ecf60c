#include <stdio.h>
unsigned long step(unsigned long x) {
  return x * 2862933555777941757ul + 3037000493ul;
}
void checkpoint(unsigned long x) {
  printf("at %lu\n", x % 1000);
}
int main(void) {
  unsigned long x = 1;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 20000000; ++i) x = step(x);
    checkpoint(x);
  }
  return 3;
}
