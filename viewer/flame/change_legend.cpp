#include "viewer/flame/change_legend.h"

#include <QPainter>
#include <array>

#include "viewer/document/colours.h"

namespace prof::viewer {

namespace {

// A difference divided by the larger of two costs: 0.5 means doubled or halved.
struct Step {
  double share;
  const char* words;
};
constexpr std::array kSteps = {Step{-1, "gone"}, Step{-0.5, "half"}, Step{0, "same"}, Step{0.5, "double"},
                               Step{1, "new"}};

int width_of_step(const QFontMetrics& font) {
  return font.horizontalAdvance(" double ");
}

}  // namespace

ChangeLegend::ChangeLegend(QWidget* parent) : QWidget(parent) {
  setObjectName("legend");
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  setToolTip("Change of a frame from the run before to the run after: red takes more, blue less");
}

QSize ChangeLegend::sizeHint() const {
  return {width_of_step(fontMetrics()) * static_cast<int>(kSteps.size()), fontMetrics().height() + 4};
}

void ChangeLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(ink_on_function());
  QRect place(0, 0, width_of_step(fontMetrics()), height());
  for (const Step& step : kSteps) {
    painter.fillRect(place, change_colour_of_function(step.share));
    painter.drawText(place, Qt::AlignCenter, step.words);
    place.translate(place.width(), 0);
  }
}

}  // namespace prof::viewer
