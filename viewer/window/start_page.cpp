#include "viewer/window/start_page.h"

#include <QPushButton>

namespace prof::viewer {

StartPage::StartPage(QWidget* parent)
    : QWidget(parent), failure_(new QLabel), opening_(new QLabel), recent_(new QVBoxLayout) {
  auto* const open = new QPushButton("Open a database or a measurement directory...");
  open->setObjectName("open");
  connect(open, &QPushButton::clicked, this, &StartPage::open_asked);
  failure_->setObjectName("failure");
  failure_->setWordWrap(true);
  failure_->setAlignment(Qt::AlignCenter);
  failure_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  failure_->hide();
  opening_->setObjectName("opening");
  opening_->setAlignment(Qt::AlignCenter);
  opening_->hide();
  auto* const hint = new QLabel("or drop one here. `prof run ./app` creates one.");
  hint->setAlignment(Qt::AlignCenter);

  auto* const column = new QVBoxLayout(this);
  column->addStretch();
  column->addWidget(failure_);
  column->addWidget(opening_);
  column->addWidget(open, 0, Qt::AlignCenter);
  column->addWidget(hint);
  column->addSpacing(fontMetrics().height());
  column->addLayout(recent_);
  column->addStretch();
}

void StartPage::show_recent(const QStringList& paths) {
  while (QLayoutItem* const item = recent_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  for (const QString& path : paths) {
    auto* const link = new QPushButton(path);
    link->setFlat(true);
    connect(link, &QPushButton::clicked, this, [this, path] { emit asked(path); });
    recent_->addWidget(link, 0, Qt::AlignCenter);
  }
}

void StartPage::show_opening(const QString& path) {
  opening_->setText("Opening " + path + " ...");
  opening_->setVisible(!path.isEmpty());
}

void StartPage::show_failure(const QString& why) {
  failure_->setText(why);
  failure_->setVisible(!why.isEmpty());
}

}  // namespace prof::viewer
