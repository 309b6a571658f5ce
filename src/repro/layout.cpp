#include "repro/value_list.h"

#include "core/files.h"
#include "core/text.h"
#include "tasks/sandbox.h"

#include <fstream>
#include <locale>
#include <sstream>

namespace repro_minify {
namespace {

constexpr double points_in_an_inch = 72;
constexpr const char *advice = "install Debian's `graphviz`, and run this again with --force";

std::string dot_text(const std::vector<Size> &boxes, const std::vector<std::pair<int, int>> &edges) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << "digraph g {\nnode [shape=box fixedsize=true label=\"\"];\nedge [arrowhead=none];\n"
       << "graph [ranksep=0.3 nodesep=0.2 " // a large graph need not be laid out as well as can be
       << (boxes.size() > 400 ? "nslimit=2 nslimit1=2 mclimit=0.3" : "") << "];\n";
  for (size_t i = 0; i < boxes.size(); ++i)
    text << 'n' << i << " [width=" << boxes[i].width / points_in_an_inch
         << " height=" << boxes[i].height / points_in_an_inch << "];\n";
  for (const auto &[from, to] : edges)
    text << 'n' << from << " -> n" << to << ";\n";
  text << "}\n";
  return text.str();
}

GraphLayout without_layout(const std::string &problem) {
  GraphLayout layout;
  layout.problem = problem;
  return layout;
}

/// Reads one line of -Tplain after the other.
class PlainReader {
public:
  explicit PlainReader(size_t boxes) { layout_.centres.resize(boxes); }

  bool take(const std::string &line) {
    std::istringstream words(line);
    words.imbue(std::locale::classic());
    std::string kind;
    words >> kind;
    if (kind == "graph")
      return static_cast<bool>(words >> scale_ >> layout_.size.width >> layout_.size.height);
    if (kind == "node")
      return take_node(words);
    if (kind == "edge")
      return take_edge(words);
    return kind == "stop";
  }

  GraphLayout finished() && {
    const double height = layout_.size.height;
    const auto place = [&](GraphLayout::Point &point) {
      point = {point.x * points_in_an_inch, (height - point.y) * points_in_an_inch};
    };
    for (auto &centre : layout_.centres)
      place(centre);
    for (auto &curve : layout_.curves)
      for (auto &point : curve.points)
        place(point);
    layout_.size = {layout_.size.width * points_in_an_inch, height * points_in_an_inch};
    return std::move(layout_);
  }

private:
  /// "n12"; -1 for anything else.
  int read_name(std::istream &words) const {
    char letter = 0;
    int number = -1;
    words >> letter >> number;
    return letter == 'n' && words && number >= 0 && number < static_cast<int>(layout_.centres.size()) ? number : -1;
  }

  bool take_node(std::istream &words) {
    const int box = read_name(words);
    if (box < 0)
      return false;
    GraphLayout::Point &centre = layout_.centres[static_cast<size_t>(box)];
    return static_cast<bool>(words >> centre.x >> centre.y);
  }

  bool take_edge(std::istream &words) {
    GraphLayout::Curve curve;
    curve.from = read_name(words);
    curve.to = read_name(words);
    size_t count = 0;
    words >> count;
    for (GraphLayout::Point point; curve.points.size() < count && words >> point.x >> point.y;)
      curve.points.push_back(point);
    const bool is_whole = curve.from >= 0 && curve.to >= 0 && curve.points.size() == count && count % 3 == 1;
    layout_.curves.push_back(std::move(curve));
    return is_whole;
  }

  double scale_ = 1;
  GraphLayout layout_;
};

} // namespace

GraphLayout read_plain_layout(const std::string &text, size_t boxes) {
  PlainReader reader(boxes);
  const std::vector<std::string> lines = split_lines(text);
  for (const std::string &line : lines)
    if (!reader.take(line))
      return without_layout("Graphviz's `dot` answered with what is no layout");
  return !lines.empty() ? std::move(reader).finished() : without_layout("Graphviz's `dot` answered nothing");
}

GraphLayout lay_out(const std::vector<Size> &boxes, const std::vector<std::pair<int, int>> &edges,
                    const std::function<bool()> &interrupted) {
  const auto stops = [&] { return interrupted && interrupted(); };
  if (stops())
    return without_layout("the run was interrupted, or its time budget spent, before it was drawn");
  const TemporaryFolder folder;
  const std::string asked = folder / "graph.dot", answer = folder / "graph.plain";
  std::ofstream(asked) << dot_text(boxes, edges);
  constexpr std::chrono::seconds limit(60);
  const JobEnd job_end = run_command({"dot", "-Tplain", "-o", answer, asked}, limit, interrupted);
  if (stops())
    return without_layout("the run was interrupted, or its time budget spent, while it was drawn");
  if (job_end.ending == Ending::TimedOut)
    return without_layout("Graphviz's `dot` took more than " + std::to_string(limit.count()) + " s for " +
                          std::to_string(boxes.size()) + " boxes");
  if (job_end.ending == Ending::Exited && job_end.exit_code == 127)
    return without_layout(std::string("Graphviz's `dot` is not installed: ") + advice);
  if (job_end.ending != Ending::Exited || job_end.exit_code != 0)
    return without_layout("Graphviz's `dot` failed");
  return read_plain_layout(read_file(answer), boxes.size());
}

} // namespace repro_minify
