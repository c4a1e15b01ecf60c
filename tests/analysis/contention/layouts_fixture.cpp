// Types of many kinds, plain and with the alignments that LINE marks. The compiler's layouts of these are the
// model's expected results.

#include <array>
#include <atomic>
#include <complex>
#include <cstdint>

#ifdef ALIGNED
#define LINE alignas(64)
#else
#define LINE
#endif

struct Fields {
  uint8_t kind;
  uint64_t count;
  LINE uint16_t errors;
  uint32_t sum;
  char name[13];
};

struct LINE Element {
  uint32_t first;
  uint16_t second;
  uint8_t third;
};

struct Holder {
  char head;
  Element inner;
  short tail;
  Element more[3];
  char last;
};

struct Bits {
  char head;
  unsigned low : 4, high : 12;
  unsigned long wide : 40;
  LINE int value;
  bool flag;
};

struct Either {
  char head;
  union {
    double number;
    char text[20];
  } either;
  union {
    int left, right;
  };
  LINE char last;
};

struct Empty {};

class Base : Empty {
 public:
  Base() = default;
  virtual ~Base() {}
  int value = 0;
  char padded = 0;
};

// `own` lies in the padding of Base.
struct Derived : Base {
  char own;
  LINE std::atomic<int> hits;
  std::atomic<bool> flag;
};

enum class Kind : uint16_t { A };

struct Numbers {
  char a;
  long double b;
  Kind c;
  __extension__ __int128 d;
  bool e;
  std::complex<float> f;
  char Numbers::*g;
  void (Numbers::*h)();
  LINE float i;
  double (*j)(int);
  double rows[2][3];
};

struct [[gnu::packed]] Packed {
  char head;
  uint64_t count;
};

struct AroundPacked {
  char head;
  Packed inner;
  LINE uint16_t last;
};

struct AlignedBefore {
  char head;
  alignas(32) char begins;
  LINE char last;
};

// A typedef may have an alignment of its own.
typedef uint32_t aligned_word __attribute__((aligned(16)));
struct AlignedWords {
  char head;
  aligned_word word;
  LINE char last;
};

extern "C" {
Fields fields;
Element elements[5];
Holder holders[2];
Bits bits;
Either either;
Derived derived;
Numbers numbers;
Packed packed;
AroundPacked around_packed;
AlignedBefore aligned_before;
short cells[2][3];
std::array<std::atomic<long>, 4> sums;
AlignedWords aligned_words;
}
