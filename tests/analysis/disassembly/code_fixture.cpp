// Code with known instructions. Tests find lines by their "at:" comments.

volatile unsigned long input = 1000;

[[gnu::always_inline]] static inline unsigned long step(unsigned long x) {
  return x * input + 7;  // at: step body
}

extern "C" [[gnu::noinline]] unsigned long count_down(unsigned long n) {
  unsigned long sum = 0;
  while (n > 0) {
    sum += step(n);  // at: call of step
    n -= input;      // at: subtracts
  }
  return sum;
}

int main() {
  return static_cast<int>(count_down(input) & 1);
}
