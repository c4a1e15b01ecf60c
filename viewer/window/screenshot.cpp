#include "viewer/window/screenshot.h"

#include <fmt/format.h>

#include <QAbstractItemView>
#include <QApplication>
#include <QBuffer>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPainter>
#include <QPixmap>
#include <QSvgGenerator>
#include <algorithm>
#include <stdexcept>

#include "viewer/compare/names.h"
#include "viewer/document/document.h"
#include "viewer/document/other_run.h"
#include "viewer/document/output_file.h"
#include "viewer/tables/table_text.h"
#include "viewer/window/choose.h"
#include "viewer/window/pages.h"
#include "viewer/window/theme.h"

namespace prof::viewer {

namespace fs = std::filesystem;

namespace {

constexpr int kMargin = 6;           // pixels around the line above a picture
constexpr int kTimeoutMs = 120'000;  // in which a page must be complete
// In a measurement directory, next to the database.
constexpr const char* kMeasured[] = {".prof", ".ranks", ".json"};

void wait_until_complete(const Document& document, const Page& page) {
  QElapsedTimer timer;
  timer.start();
  do {
    QApplication::processEvents(QEventLoop::AllEvents, 10);
    if (timer.elapsed() > kTimeoutMs)
      throw std::runtime_error(
          fmt::format("{}: not complete after {} s", page.id().toStdString(), kTimeoutMs / 1000));
  } while (document.is_time_awaited() || !page.is_complete());
  QApplication::processEvents();
}

void write_table(Page& page, const std::string& file) {
  if (!page.table())
    throw std::runtime_error(
        fmt::format("the page {} has no table; --screenshot writes its picture", page.id().toStdString()));
  if (const QString why = page.reason_empty(); !why.isEmpty()) throw std::runtime_error(why.toStdString());
  write_csv(*page.table()->model(), file);
}

// Describes the threads, metric and time that the window shows around a page.
QString caption_of(const Document& document, const Page& page) {
  static const QStringList kOfOneMetric = {"flame-graph", "source", "threads"};
  QStringList said{QString::fromStdString(document.database().title)};
  const CallTree& tree = document.tree();
  if (kOfOneMetric.contains(page.id()) && document.metric() < tree.metrics())
    said << QString::fromStdString(tree.metric(static_cast<uint32_t>(document.metric())).name);
  if (const OtherRun* const other = document.other_run())
    said << "compared with " + names_of(document.directory(), other->directory).other;
  if (!document.has_all_threads())
    said << QString("%1 of %2 threads")
                .arg(document.threads().size())
                .arg(document.database().profiles.size());
  if (const QString time = document.format_chosen_time(); !time.isEmpty()) said << time;
  return said.join("  \u00b7  ");
}

bool is_below(const fs::path& file, const fs::path& folder) {
  return std::ranges::mismatch(folder, file).in1 == folder.end();
}

int caption_height(const QWidget& page) {
  return page.fontMetrics().height() * 3 / 2;
}

}  // namespace

void write_picture(const Document& document, Page& page, const fs::path& file) {
  QBuffer bytes;
  bytes.open(QIODevice::WriteOnly);
  const QRect all(0, 0, page.width(), page.height() + caption_height(page));
  const auto paint = [&](QPainter& painter) {
    const QPalette& colours = page.palette();
    painter.fillRect(all, colours.color(QPalette::Window));
    painter.setPen(colours.color(QPalette::WindowText));
    painter.setFont(page.font());
    const QRect line = QRect(0, 0, all.width(), caption_height(page)).adjusted(kMargin, 0, -kMargin, 0);
    painter.drawText(
        line, Qt::AlignLeft | Qt::AlignVCenter,
        page.fontMetrics().elidedText(caption_of(document, page), Qt::ElideMiddle, line.width()));
    page.render(&painter, QPoint(0, caption_height(page)));
  };
  if (file.extension() == ".svg") {
    QSvgGenerator generator;
    generator.setOutputDevice(&bytes);
    generator.setSize(all.size());
    generator.setViewBox(all);
    QPainter painter(&generator);
    paint(painter);
  } else {
    const qreal ratio = page.devicePixelRatio();
    QPixmap picture(all.size() * ratio);
    picture.setDevicePixelRatio(ratio);
    QPainter painter(&picture);
    paint(painter);
    painter.end();
    picture.save(&bytes, "PNG");
  }
  write_to(file, [&](QIODevice& out) { out.write(bytes.data()); });
}

void check_output(const Document& document, const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return;
  const fs::path asked = fs::weakly_canonical(file, error);
  const auto refuse_files_of = [&](const fs::path& directory) {
    const fs::path database = fs::weakly_canonical(directory, error);
    if (is_below(asked, database))
      throw std::runtime_error(
          fmt::format("{} is a file of the open database; choose another file", file.string()));
    if (database.filename() == "database" && asked.parent_path() == database.parent_path() &&
        std::ranges::find(kMeasured, asked.extension()) != std::end(kMeasured))
      throw std::runtime_error(
          fmt::format("{} is a measurement of the open run; choose another file", file.string()));
  };
  refuse_files_of(document.directory());
  if (document.other_run()) refuse_files_of(document.other_run()->directory);
}

int write_files(const ViewOptions& options) {
  use_theme(theme_of(options.theme));
  if (options.database.empty())
    throw std::runtime_error(options.table.empty() ? "--screenshot needs a DATABASE"
                                                   : "--table needs a DATABASE");
  Document document(options.database);
  QString refusal;
  QObject::connect(&document, &Document::time_not_chosen, &document,
                   [&](const QString& why) { refusal = why; });
  if (!options.compare.empty())
    document.compare_with(read_other_run(document.database(), options.compare), {options.same_total, false});
  for (const std::string* file : {&options.screenshot, &options.table})
    if (!file->empty()) check_output(document, *file);
  choose(document, options);
  const std::unique_ptr<Page> page = make_page(QString::fromStdString(first_page(options)), document);
  const Size size = *size_of(options.size);
  const int height = size.height - (options.screenshot.empty() ? 0 : caption_height(*page));
  page->resize(size.width, height);
  page->setAttribute(Qt::WA_DontShowOnScreen);
  page->show();
  if (!options.screenshot.empty() && page->size() != QSize(size.width, height)) {
    const QSize least = page->size().expandedTo({size.width, height});
    throw std::runtime_error(fmt::format("the page {} does not fit into {}x{}; use --size {}x{}",
                                         page->id().toStdString(), size.width, size.height, least.width(),
                                         least.height() + size.height - height));
  }
  choose_function(document, options);
  wait_until_complete(document, *page);
  if (!refusal.isEmpty()) throw std::runtime_error(refusal.toStdString());
  if (const QString why = page->failure(); !why.isEmpty()) throw std::runtime_error(why.toStdString());
  if (!options.screenshot.empty()) write_picture(document, *page, options.screenshot);
  if (!options.table.empty()) write_table(*page, options.table);
  return 0;
}

}  // namespace prof::viewer
