#include "viewer/tables/cost_delegate.h"

#include <QApplication>
#include <QPainter>
#include <algorithm>

#include "viewer/document/colours.h"
#include "viewer/document/words.h"
#include "viewer/tables/cost_model.h"

namespace prof::viewer {

namespace {

constexpr int kMargin = 4;

int width_of_share(const QFontMetrics& font) {
  return font.horizontalAdvance(" +< 0.1 %") + 2 * kMargin;
}

// The bar of a cost in one of two runs has a neutral colour.
QColor colour_of_sign(const QPalette& palette, int sign) {
  return sign == 0 ? palette.color(QPalette::Button) : change_colour(palette, sign);
}

void paint_cost(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index,
                double share) {
  const bool is_selected = option.state & QStyle::State_Selected;
  QRect bar = option.rect.adjusted(1, 1, -1, -1);
  bar.setLeft(bar.right() + 1 - static_cast<int>(bar.width() * std::clamp(share, 0.0, 1.0)));
  constexpr double kBarHeat = 0.45;
  const QVariant sign = index.data(kSignRole);
  if (share > 0 && !is_selected)
    painter.fillRect(bar, sign.isValid() ? colour_of_sign(option.palette, sign.toInt())
                                         : heat_colour(option.palette, kBarHeat));
  if (share > 0 && is_selected) {
    QColor veil = option.palette.color(QPalette::HighlightedText);
    constexpr int kFaint = 60;
    veil.setAlpha(kFaint);
    painter.fillRect(bar, veil);
  }
  painter.setPen(option.palette.color(is_selected ? QPalette::HighlightedText : QPalette::Text));
  QRect text = option.rect.adjusted(kMargin, 0, -kMargin, 0);
  painter.drawText(text, Qt::AlignRight | Qt::AlignVCenter, signed_percent(share, sign.toInt()));
  text.setRight(text.right() - width_of_share(option.fontMetrics));
  painter.drawText(text, Qt::AlignRight | Qt::AlignVCenter, index.data(kQuantityRole).toString());
}

}  // namespace

int width_of_cost(const QFontMetrics& font) {
  return font.horizontalAdvance("999 min 59 s") + width_of_share(font) + 2 * kMargin;
}

QSize CostDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  return QStyledItemDelegate::sizeHint(option, index) + QSize(0, kMargin);
}

void CostDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
  QStyleOptionViewItem item = option;
  initStyleOption(&item, index);
  const QVariant share = index.data(kShareRole);
  if (share.isValid()) item.text.clear();
  const double change = index.data(kSignRole).toDouble();
  if (change != 0 && !share.isValid()) item.backgroundBrush = change_colour(item.palette, change);
  if (index.data(kFoundRole).toBool()) item.backgroundBrush = found_colour(item.palette);
  const QStyle* const style = item.widget ? item.widget->style() : QApplication::style();
  style->drawControl(QStyle::CE_ItemViewItem, &item, painter, item.widget);
  if (!share.isValid()) return;
  painter->save();
  painter->setFont(item.font);
  paint_cost(*painter, item, index, share.toDouble());
  painter->restore();
}

}  // namespace prof::viewer
