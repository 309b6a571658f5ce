#include "repro/value_list.h"

#include "core/dataflow.h"
#include "core/number_text.h"
#include "repro/render.h"
#include "repro/shown_value.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace repro_minify {
namespace {

using Part = AnalysisRow::Part;
using State = AnalysisRow::State;

constexpr size_t most_in_full = 16; ///< elements of a value that are all shown, expected beside found

/// The class of page.css that colours the row.
std::string class_of(const AnalysisRow &row) {
  if (row.part == Part::Cause)
    return "cause";
  if (row.part == Part::Carrier)
    return row.state == State::Fails ? "unknown" : "carrier";
  return row.state == State::Same ? "agrees" : row.state == State::Differs ? "carrier" : "unknown";
}

/// The meaning of each word that a row can have, in the order of the legend.
constexpr std::pair<const char *, const char *> meanings[] = {
    {"cause", "cause: what it is made from agrees, and it does not"},
    {"fails here",
     "fails here: a program that ends here raises, crashes or hangs, or something else in it than this value is wrong"},
    {"carrier", "carrier: what it is made from is wrong already"},
    {"differs", "differs in a program that ends here"},
    {"fails", "fails in a program that ends here"},
    {"not reached", "not reached: the program ends before"},
    {"agrees", "agrees with eager"},
    {"not compared", "not compared"}};

std::string numbers_text(const std::vector<double> &numbers, size_t most, std::int64_t of) {
  std::string text;
  const size_t count = std::min(most, numbers.size());
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + (std::isnan(numbers[i]) ? "nan" : rounded_text(numbers[i], 5));
  return text + (static_cast<std::int64_t>(count) < of ? ", \u2026" : "");
}

/// The line that it comes from says more than a number that a compiler has given.
std::string title_of(const AnalysisRow &row) {
  return row.source.empty() ? row.value : row.source;
}

std::string error_text(const LeafReport &report) {
  if (std::isnan(report.res_error) && std::isnan(report.max_abs_error))
    return "";
  std::string text;
  if (!std::isnan(report.res_error))
    text = "RMSE " + rounded_text(report.res_error) + " against fp64 (eager " + rounded_text(report.ref_error) + ")";
  if (!std::isnan(report.max_abs_error))
    text += (text.empty() ? "" : "; ") + ("largest " + rounded_text(report.max_abs_error));
  return text;
}

/// Builds boxes and entries of the rows that are drawn.
class Builder {
public:
  Builder(const Analysis &analysis, const ValueList::Options &options) : analysis_(analysis), options_(options) {}

  ValueList build() {
    rows_ = drawn_rows();
    box_of_row_.assign(analysis_.rows.size(), -1);
    box_of_input_.assign(analysis_.inputs.size(), -1);
    for (const int row : rows_)
      add_inputs_of(row);
    for (const int row : rows_)
      add_row(row);
    ValueList list;
    list.picture = draw_graph(boxes_, edges_, options_.label, options_.interrupted);
    list.entries = render("entries.html.tpl", {{"entries", entries_}});
    list.drawn = rows_.size();
    list.legend = legend();
    return list;
  }

private:
  /// An entry for each colour that is in the picture.
  json legend() const {
    std::map<std::string, std::string> classes;
    bool any_kept = false;
    for (const int row : rows_) {
      const AnalysisRow &drawn = analysis_.rows[static_cast<size_t>(row)];
      classes.emplace(word_of(drawn), class_of(drawn));
      any_kept |= is_kept(static_cast<size_t>(row));
    }
    json entries = json::array();
    for (const auto &[word, meaning] : meanings)
      if (const auto found = classes.find(word); found != classes.end())
        entries.push_back({{"classes", found->second}, {"meaning", meaning}});
    if (any_kept)
      entries.push_back({{"classes", "kept"}, {"meaning", "kept in the reduced program"}});
    return entries;
  }

  bool is_kept(size_t row) const { return row < options_.kept.size() && options_.kept[row]; }

  /// All of them, or as many as there may be around what is kept, or where it goes wrong.
  IndexSet drawn_rows() const {
    IndexSet all(analysis_.rows.size());
    std::iota(all.begin(), all.end(), 0);
    if (all.size() <= options_.most_boxes)
      return all;
    IndexSet centre;
    for (const int row : all)
      if (is_kept(static_cast<size_t>(row)) || analysis_.first == row)
        centre.push_back(row);
    if (centre.empty())
      centre.push_back(all.back());
    const Dataflow dataflow(static_cast<int>(all.size()), def_uses());
    IndexSet best = centre;
    for (int radius = 1; radius < static_cast<int>(all.size()); ++radius) {
      IndexSet next = dataflow.ball(centre, radius, all);
      if (next.size() > options_.most_boxes || next.size() == best.size())
        break;
      best = std::move(next);
    }
    return best;
  }

  std::vector<std::pair<int, int>> def_uses() const {
    std::vector<std::pair<int, int>> edges;
    for (size_t i = 0; i < analysis_.rows.size(); ++i)
      for (const int read : analysis_.rows[i].reads)
        if (read < static_cast<int>(i))
          edges.emplace_back(read, static_cast<int>(i));
    return edges;
  }

  void add_inputs_of(int row) {
    for (const int input : analysis_.rows[static_cast<size_t>(row)].inputs) {
      const Analysis::Input &what = analysis_.inputs[static_cast<size_t>(input)];
      int &box = box_of_input_[static_cast<size_t>(input)];
      if (box >= 0 || (what.role != Role::Input && !options_.draws_parameters))
        continue;
      box = static_cast<int>(boxes_.size());
      const std::string key = options_.prefix + "i" + std::to_string(input);
      boxes_.push_back({{what.name, what.type}, key, key, "input"});
      entries_.push_back({{"key", key},
                          {"anchor", key},
                          {"classes", "input"},
                          {"word", to_string(what.role)},
                          {"operator", to_string(what.role)},
                          {"value", what.name},
                          {"type", what.type}});
    }
  }

  void add_row(int index) {
    const auto number = static_cast<size_t>(index);
    const AnalysisRow &row = analysis_.rows[number];
    const bool is_first = analysis_.first == index;
    const std::string classes = class_of(row) + (is_kept(number) ? " kept" : "") + (is_first ? " first" : "") +
                                (row.is_output ? " output" : "");
    const std::string key = key_of(options_, number), anchor = options_.prefix + std::to_string(number);
    const std::string word = word_of(row), first = word == "cause" ? ": first wrong value" : "";
    const std::string mark = row.part == Part::None ? "" : is_first ? word + first : word;
    box_of_row_[number] = static_cast<int>(boxes_.size());
    boxes_.push_back({{row.op, title_of(row), row.type, mark, is_kept(number) ? "kept" : ""}, key, anchor, classes});
    for (const int read : row.reads)
      connect(box_of_row_[static_cast<size_t>(read)]);
    for (const int input : row.inputs)
      connect(box_of_input_[static_cast<size_t>(input)]);
    entries_.push_back(entry(row, key, anchor, classes, is_kept(number)));
  }

  /// To the box that was added last.
  void connect(int from) {
    const int to = static_cast<int>(boxes_.size()) - 1;
    if (from >= 0 && from != to)
      edges_.emplace_back(from, to);
  }

  json entry(const AnalysisRow &row, const std::string &key, const std::string &anchor, const std::string &classes,
             bool kept) const {
    const bool is_small = row.shown.elements <= static_cast<std::int64_t>(most_in_full);
    const bool pictured = is_small || row.part == Part::Cause || (row.part != Part::None && row.is_output);
    const std::string picture =
        pictured && !row.shown.found.empty() ? render("values.html.tpl", values_json(row.shown, most_in_full)) : "";
    return {{"key", key},
            {"anchor", anchor},
            {"classes", classes},
            {"word", word_of(row)},
            {"kept", kept},
            {"operator", row.op},
            {"value", title_of(row)},
            {"type", row.type},
            {"name", row.source.empty() ? "" : row.value},
            {"errors", error_text(row.report)},
            {"message", row.message},
            {"expected",
             picture.empty() ? numbers_text(row.shown.expected, options_.shown_elements, row.shown.elements) : ""},
            {"found", picture.empty() && !row.shown.found.empty()
                          ? numbers_text(row.shown.found, options_.shown_elements, row.shown.elements)
                          : ""},
            {"picture", picture}};
  }

  const Analysis &analysis_;
  const ValueList::Options &options_;
  IndexSet rows_;
  std::vector<int> box_of_row_, box_of_input_;
  std::vector<GraphPicture::Box> boxes_;
  std::vector<std::pair<int, int>> edges_;
  json entries_ = json::array();
};

} // namespace

std::string key_of(const ValueList::Options &options, size_t row) {
  if (row < options.keys.size() && !options.keys[row].empty())
    return options.keys[row];
  return options.prefix + std::to_string(row);
}

ValueList value_list(const Analysis &analysis, const ValueList::Options &options) {
  return Builder(analysis, options).build();
}

json graph_json(const ValueList &list, const Analysis &analysis) {
  return {{"graph", list.picture.svg},
          {"legend", list.legend},
          {"no_graph_because", list.picture.problem},
          {"entries", list.entries},
          {"values", analysis.rows.size()},
          {"drawn", list.drawn},
          {"is_part", list.drawn < analysis.rows.size()},
          {"is_compared", analysis.is_compared}};
}

} // namespace repro_minify
