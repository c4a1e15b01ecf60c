#include "viewer/findings/evidence_page.h"

#include <QStringList>
#include <QVBoxLayout>
#include <algorithm>

#include "viewer/findings/links.h"

namespace prof::viewer {

EvidencePage::EvidencePage(Document& document, const QStringList& columns, QWidget* parent)
    : Page(document, parent),
      empty_(new QLabel),
      limit_(new QLabel),
      sentences_(new QLabel),
      table_(new EvidenceTable(document, columns)),
      details_(new QTextBrowser),
      beside_(new QSplitter(Qt::Horizontal)),
      halves_(new QSplitter(Qt::Vertical)),
      layers_(new QStackedLayout(this)) {
  empty_->setObjectName("reason_empty");
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setWordWrap(true);
  empty_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  limit_->setObjectName("limit");
  limit_->setWordWrap(true);
  limit_->setMargin(fontMetrics().averageCharWidth());
  sentences_->setObjectName("sentences");
  sentences_->setWordWrap(true);
  sentences_->setTextInteractionFlags(Qt::TextBrowserInteraction);
  sentences_->setMargin(fontMetrics().averageCharWidth());
  details_->setObjectName("details");
  details_->setOpenLinks(false);
  beside_->addWidget(details_);
  beside_->setChildrenCollapsible(false);

  halves_->addWidget(table_);
  halves_->addWidget(beside_);
  halves_->setStretchFactor(0, 1);
  halves_->setStretchFactor(1, 1);
  halves_->setChildrenCollapsible(false);
  auto* const content = new QWidget;
  auto* const column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(limit_);
  column->addWidget(sentences_);
  column->addWidget(halves_, 1);
  layers_->addWidget(content);
  layers_->addWidget(empty_);

  for (QSplitter* const splitter : {halves_, beside_})
    connect(splitter, &QSplitter::splitterMoved, this, [this] { is_divided_ = true; });
  for (const auto opened : {&QTreeView::expanded, &QTreeView::collapsed})
    connect(table_, opened, this, &EvidencePage::divide, Qt::QueuedConnection);
  connect(table_, &EvidenceTable::row_chosen, this, &EvidencePage::show_details);
  connect(details_, &QTextBrowser::anchorClicked, this, &EvidencePage::follow_link);
  connect(sentences_, &QLabel::linkActivated, this, [this](const QString& link) { follow_link(QUrl(link)); });
  connect(&document, &Document::tree_changed, this, &EvidencePage::renew);
  connect(&document, &Document::finding_asked, this, &EvidencePage::show_finding);
}

std::vector<PageKey> EvidencePage::keys() const {
  return {{"Enter", "the row's source line"}, {"T", "the row's time in the timeline"}};
}

QModelIndex EvidencePage::row_of_finding(const QString&) const {
  return {};
}

void EvidencePage::add_beside_details(QWidget* widget, QWidget* contents) {
  beside_->addWidget(widget);
  beside_details_ = contents;
}

void EvidencePage::show_sentences(const QString& text) {
  sentences_->setText(text);
  sentences_->setVisible(!text.isEmpty());
}

void EvidencePage::renew() {
  is_filled_ = false;
  if (!isVisible()) return;
  is_filled_ = true;
  const EvidenceTable::Look look = table_->look();
  table_->clear();
  const QString limit = limits();
  limit_->setText("<i>" + limit + "</i>");
  limit_->setVisible(!limit.isEmpty());
  const QString reason = reason_empty();
  empty_->setText(reason);
  layers_->setCurrentIndex(reason.isEmpty() ? 0 : 1);
  if (!reason.isEmpty()) return;
  fill();
  table_->finish();
  table_->take_look(look);
  show_details(table_->currentIndex());
  // Called after the sentences are laid out.
  QMetaObject::invokeMethod(this, &EvidencePage::divide, Qt::QueuedConnection);
}

QString EvidencePage::limits() const {
  QStringList said;
  if (document().chosen_time()) said << limit_of_time();
  if (!document().has_all_threads()) said << limit_of_threads();
  said.removeAll(QString());
  return said.join(" ");
}

// Divides the height. A short table leaves its room to the details, and short details leave theirs to the
// table, which shows whole rows.
void EvidencePage::divide() {
  if (is_divided_ || !isVisible() || table_->model()->rowCount() == 0) return;
  constexpr int kMinLines = 8;
  const int all = halves_->height() - halves_->handleWidth();
  const int line = details_->fontMetrics().lineSpacing();
  const int needed = static_cast<int>(details_->document()->size().height()) + 2 * details_->frameWidth();
  const int details = std::min(std::max(needed, kMinLines * line), all / 2);
  const int table = table_->height_of_rows(all - details);
  halves_->setSizes({table, all - table});
  if (!beside_details_) return;
  const int width = beside_->width() - beside_->handleWidth();
  const int beside = std::clamp(beside_details_->sizeHint().width(), width / 3, width * 3 / 5);
  beside_->setSizes({width - beside, beside});
}

void EvidencePage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  QMetaObject::invokeMethod(this, &EvidencePage::divide, Qt::QueuedConnection);
}

void EvidencePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (!is_filled_) renew();
}

void EvidencePage::show_details(const QModelIndex& row) {
  QString text = table_->details(row);
  if (const QString path = linked_path(document(), table_->evidence(row).frames); !path.isEmpty())
    text += (text.isEmpty() ? "" : "<hr>") + path;
  if (table_->moment(row))
    text += (text.isEmpty() ? "" : "<hr>") + QString("<a href=\"moment:-\">Show in the timeline</a> (T)");
  details_->setHtml(text);
}

void EvidencePage::show_finding(const QString& page, const QString& finding) {
  if (page != id()) return;
  if (!is_filled_) renew();
  const QModelIndex row = row_of_finding(finding);
  if (!row.isValid()) return;
  table_->setCurrentIndex(row);
  table_->scrollTo(row);
}

void EvidencePage::follow_link(const QUrl& link) {
  if (link.scheme() == "moment")
    table_->show_moment(table_->currentIndex());
  else
    follow(document(), link);
}

}  // namespace prof::viewer
