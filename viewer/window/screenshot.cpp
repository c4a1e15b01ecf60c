#include "viewer/window/screenshot.h"

#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPainter>
#include <QPixmap>
#include <QSvgGenerator>
#include <stdexcept>

#include "viewer/document/document.h"
#include "viewer/window/choose.h"
#include "viewer/window/pages.h"
#include "viewer/window/theme.h"

namespace prof::viewer {

namespace {

constexpr int kLongestMs = 120'000;  // that a page may need until it is complete

void wait_until_complete(const Page& page) {
  QElapsedTimer timer;
  timer.start();
  do {
    QApplication::processEvents(QEventLoop::AllEvents, 10);
    if (timer.elapsed() > kLongestMs)
      throw std::runtime_error(
          fmt::format("{}: not complete after {} s", page.id().toStdString(), kLongestMs / 1000));
  } while (!page.is_complete());
  QApplication::processEvents();
}

}  // namespace

void write_picture(QWidget& widget, const std::filesystem::path& file) {
  const QString name = QString::fromStdString(file.string());
  bool is_written = false;
  if (file.extension() == ".svg") {
    QSvgGenerator generator;
    generator.setFileName(name);
    generator.setSize(widget.size());
    generator.setViewBox(widget.rect());
    QPainter painter;
    is_written = painter.begin(&generator);
    if (is_written) widget.render(&painter);
    is_written = is_written && painter.end();
  } else {
    is_written = widget.grab().save(name);
  }
  if (!is_written)
    throw std::runtime_error(
        fmt::format("cannot write {}; is its folder there, and is it yours to write to?", file.string()));
}

int take_screenshot(const ViewOptions& options) {
  use_theme(theme_of(options.theme));
  if (options.database.empty()) throw std::runtime_error("--screenshot needs a DATABASE to show");
  Document document(options.database);
  choose(document, options);
  const std::unique_ptr<Page> page =
      make_page(QString::fromStdString(options.view.empty() ? kPages.front() : options.view), document);
  const Size size = *size_of(options.size);
  page->resize(size.width, size.height);
  page->setAttribute(Qt::WA_DontShowOnScreen);
  page->show();
  wait_until_complete(*page);
  write_picture(*page, options.screenshot);
  return 0;
}

}  // namespace prof::viewer
