#include "hpcrun/model/machine_state.h"

#include <cstddef>

namespace hpcrun {

namespace {

struct Term {
  uint8_t value;
  uint32_t scale;
};

// Collects the values of a sum, each once.
class Terms {
 public:
  void add(uint8_t value, uint32_t scale) noexcept {
    if (value == Expression::kNoValue) return;
    for (size_t i = 0; i < count_; ++i) {
      if (terms_[i].value == value) {
        terms_[i].scale += scale;
        return;
      }
    }
    terms_[count_++] = {value, scale};
  }

  bool put_into(Expression& out) const noexcept {
    if (count_ > 2) return false;
    const Term none{Expression::kNoValue, 1};
    Term base = count_ > 0 ? terms_[0] : none;
    Term index = count_ > 1 ? terms_[1] : none;
    if (base.scale != 1) {
      const Term first = base;
      base = index;
      index = first;
    }
    const bool is_scale = index.scale == 1 || index.scale == 2 || index.scale == 4 || index.scale == 8;
    if (base.scale != 1 || !is_scale) return false;
    out.base = base.value;
    out.index = index.value;
    out.scale = static_cast<uint8_t>(index.scale);
    return true;
  }

 private:
  Term terms_[4];
  size_t count_ = 0;
};

}  // namespace

bool add(const Expression& left, const Expression& right, uint8_t factor, Expression& out) noexcept {
  Terms terms;
  terms.add(left.base, 1);
  terms.add(left.index, left.scale);
  terms.add(right.base, factor);
  terms.add(right.index, uint32_t{right.scale} * factor);
  const auto scaled = static_cast<uint64_t>(right.displacement) * factor;
  out.displacement = static_cast<int64_t>(static_cast<uint64_t>(left.displacement) + scaled);
  return terms.put_into(out);
}

}  // namespace hpcrun
