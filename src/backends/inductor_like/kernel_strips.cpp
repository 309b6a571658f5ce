#include "backends/inductor_like/kernel_strips.h"

#include "backends/inductor_like/kernel_body.h"
#include "backends/inductor_like/kernel_math.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

/// Partial sums of this many rows keep the sum of a long column accurate.
constexpr int64_t block_of_rows = 128;

std::set<std::string> words_of(const std::string &text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : text + ' ')
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::move(word));
      word.clear();
    }
  return words;
}

/// All that a statement mentions.
std::set<std::string> words_of(const Statement &statement) {
  if (!statement.columns)
    return words_of(statement.text);
  std::set<std::string> words = words_of(statement.columns->result);
  for (const Statement &inner : statement.columns->value)
    words.merge(words_of(inner));
  return words;
}

/// A local variable that holds a function of another one, where the function has a variant for arrays.
struct Call {
  std::string function, operand;
};

std::optional<Call> call_in(const Statement &statement) {
  const std::string &text = statement.expression;
  const size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')' || !has_array_function(text.substr(0, open)))
    return std::nullopt;
  const std::string operand = text.substr(open + 1, text.size() - open - 2);
  const bool is_variable = words_of(operand) == std::set<std::string>{operand};
  return is_variable ? std::optional(Call{text.substr(0, open), operand}) : std::nullopt;
}

/// True if it calls an elementary function, which takes long until the result is there.
bool is_slow(const Statement &statement) {
  return statement.expression.find("math_") != std::string::npos;
}

/// The phases of a strip. A statement belongs to the first phase in which all that it needs is there; what is given all
/// of the strip ends its phase. So does an elementary function of which another takes a function: one after the other
/// for one vector, they would leave the processor waiting, while those of many vectors overlap. A variable that a later
/// phase needs lies in an array in between.
class Phases {
public:
  Phases(const std::vector<Statement> &statements, const Strip &strip, const Collected &collected)
      : statements_(statements), strip_(strip), collected_(collected) {
    for (size_t k = 0; k < statements_.size(); ++k)
      place(k);
    for (const std::string &word : words_of(collected_.statement))
      if (const auto found = made_.find(word); found != made_.end())
        last_ = std::max(last_, found->second.phase);
    for (size_t k = 0; k < statements_.size(); ++k)
      keep_for(k);
    for (const auto &name : needs_of(collected_.statement))
      keep(name, last_);
  }

  bool are_several() const {
    return last_ > 0 || std::find(ends_phase_.begin(), ends_phase_.end(), true) != ends_phase_.end();
  }

  size_t arrays() const { return kept_.size(); }

  std::string text() const {
    std::ostringstream out;
    const std::string most = "[" + std::to_string(strip_.most) + "];";
    for (const std::string &name : kept_)
      out << "alignas(64) " << made_.at(name).type << " " << array_of(name) << most << "\n";
    for (size_t phase = 0; phase <= last_; ++phase) {
      write_loop(out, phase);
      for (size_t k = 0; k < statements_.size(); ++k)
        if (ends_phase_[k] && phase_[k] == phase)
          write_for_all(out, k);
    }
    return out.str();
  }

private:
  struct Made {
    std::string type;
    size_t statement = 0;
    size_t phase = 0;      ///< from which on it is there
    bool in_array = false; ///< from the start
    bool is_slow = false;  ///< in its phase
  };

  void place(size_t k) {
    const Statement &statement = statements_[k];
    size_t phase = 0;
    needs_.push_back(needs_of(statement));
    for (const auto &name : needs_[k])
      phase = std::max(phase, made_.at(name).phase);
    const auto is_late = [&](const std::string &name) {
      return made_.at(name).phase == phase && made_.at(name).is_slow;
    };
    bool slow = std::any_of(needs_[k].begin(), needs_[k].end(), is_late);
    if (is_slow(statement) && slow)
      ++phase;
    slow |= is_slow(statement);
    const auto call = call_in(statement);
    const bool ends = statement.columns || (call && made_.count(call->operand));
    phase_.push_back(phase);
    ends_phase_.push_back(ends);
    last_ = std::max(last_, phase);
    for (const auto &variable : statement.made)
      made_[variable.name] = {variable.type, k, phase + (ends ? 1 : 0), ends, slow && !ends};
  }

  template <typename Text> std::vector<std::string> needs_of(const Text &text) const {
    std::vector<std::string> names;
    for (const std::string &word : words_of(text))
      if (made_.count(word))
        names.push_back(word);
    return names;
  }

  bool is_load(const std::string &name) const { return statements_[made_.at(name).statement].is_load; }

  void keep(const std::string &name, size_t needed_in) {
    if (!is_load(name) && (made_.at(name).phase < needed_in || made_.at(name).in_array))
      kept_.insert(name);
  }

  void keep_for(size_t k) {
    const Statement &statement = statements_[k];
    for (const auto &name : needs_[k])
      if (!ends_phase_[k])
        keep(name, phase_[k]);
      else if (!statement.columns || !is_load(name))
        kept_.insert(name);
    if (ends_phase_[k])
      for (const auto &variable : statement.made)
        kept_.insert(variable.name);
  }

  std::string array_of(const std::string &variable) const { return variable + strip_.array; }

  std::string at() const { return strip_.variable + (strip_.first == "0" ? "" : " - " + strip_.first); }

  std::string over_all() const { return loop_head(strip_.variable, strip_.first, strip_.end); }

  /// A variable of an earlier phase.
  Statement fetched(const std::string &name) const {
    const Made &made = made_.at(name);
    if (is_load(name))
      return statements_[made.statement];
    Statement statement{"const " + made.type + " " + name + " = " + array_of(name) + "[" + at() + "];",
                        {{made.type, name}}};
    statement.is_load = true;
    return statement;
  }

  /// Writes the loop of a phase that computes element by element.
  void write_loop(std::ostream &out, size_t phase) const {
    const bool collects = phase == last_ && !collected_.statement.empty();
    std::set<std::string> there;
    std::ostringstream body;
    const auto fetch = [&](const std::string &name) {
      if (there.insert(name).second) {
        body << "  " << fetched(name).text << "\n";
        if (is_load(name) && kept_.count(name) && phase == 0)
          body << "  " << array_of(name) << "[" << at() << "] = " << name << ";\n";
      }
    };
    for (size_t k = 0; k < statements_.size(); ++k) {
      const Statement &statement = statements_[k];
      if (phase_[k] != phase || ends_phase_[k])
        continue;
      if (statement.is_load) { // where it is needed, or where an array takes it
        if (kept_.count(statement.made[0].name))
          fetch(statement.made[0].name);
        continue;
      }
      for (const auto &name : needs_[k])
        fetch(name);
      body << "  " << statement.text << "\n";
      for (const auto &variable : statement.made) {
        there.insert(variable.name);
        if (kept_.count(variable.name))
          body << "  " << array_of(variable.name) << "[" << at() << "] = " << variable.name << ";\n";
      }
    }
    if (collects) {
      for (const auto &name : needs_of(collected_.statement))
        fetch(name);
      body << "  " << collected_.statement << "\n";
    }
    if (body.str().empty())
      return;
    if (collects && !collected_.pragma.empty())
      out << collected_.pragma << "\n";
    out << over_all() << " {\n" << body.str() << "}\n";
  }

  void write_for_all(std::ostream &out, size_t k) const {
    const Statement &statement = statements_[k];
    if (statement.columns) {
      write_columns(out, k);
      return;
    }
    const Call call = *call_in(statement);
    out << array_function(call.function) << "(" << array_of(call.operand) << ", " << array_of(statement.made[0].name)
        << ", " << strip_.end << (strip_.first == "0" ? "" : " - " + strip_.first) << ");\n";
  }

  /// Rows one after the other, each into all columns of the strip.
  void write_columns(std::ostream &out, size_t k) const {
    const Statement &statement = statements_[k];
    const ColumnFold &fold = *statement.columns;
    const std::string &sum = statement.made[0].name, start = start_value(fold.fold, fold.accumulator);
    const bool in_parts = is_floating(fold.accumulator) && (fold.fold == Fold::Sum || fold.fold == Fold::Product);
    const std::string sums = array_of(sum) + "[" + at() + "]", parts = sum + "p[" + at() + "]";
    out << over_all() << " " << sums << " = " << start << ";\n";
    size_t open = 0;
    for (; open + 1 < fold.rows.size(); ++open)
      out << row_loop(fold.rows[open], "0", std::to_string(fold.rows[open].count)) << "\n";
    const ColumnFold::Rows &rows = fold.rows.back();
    const std::string block = sum + "b", end = std::to_string(rows.count);
    if (in_parts) {
      out << loop_head(block, "0", end, block_of_rows) << " {\n"
          << "alignas(64) " << storage_type(fold.accumulator) << " " << sum << "p[" << strip_.most << "];\n"
          << over_all() << " " << parts << " = " << start << ";\n";
    }
    out << row_loop(rows, in_parts ? block : "0",
                    in_parts ? "smaller<int64_t>(" + block + " + " + std::to_string(block_of_rows) + ", " + end + ")"
                             : end)
        << "\n"
        << row(k, in_parts ? parts : sums) << "}\n";
    if (in_parts)
      out << over_all() << " " << folded(fold.fold, sums, parts) << ";\n}\n";
    for (; open > 0; --open)
      out << "}\n";
  }

  static std::string row_loop(const ColumnFold::Rows &rows, const std::string &first, const std::string &end) {
    return loop_head(rows.variable, first, end) + " {";
  }

  std::string row(size_t k, const std::string &sums) const {
    const ColumnFold &fold = *statements_[k].columns;
    std::vector<Statement> value;
    for (const auto &name : needs_[k])
      value.push_back(fetched(name));
    value.insert(value.end(), fold.value.begin(), fold.value.end());
    const std::string old = statements_[k].made[0].name + "o";
    Strip inside = strip_;
    inside.array += 'a'; // another one of the same variable
    return over_strip(value, inside,
                      {std::string(storage_type(fold.accumulator)) + " " + old + " = " + sums + "; " +
                           folded(fold.fold, old, fold.result) + "; " + sums + " = " + old + ";",
                       ""});
  }

  const std::vector<Statement> &statements_;
  const Strip strip_;
  const Collected collected_;
  std::vector<size_t> phase_; ///< of each statement
  std::vector<std::vector<std::string>> needs_;
  std::vector<bool> ends_phase_;
  size_t last_ = 0;
  std::map<std::string, Made> made_;
  std::set<std::string> kept_; ///< in arrays
};

} // namespace

bool want_strips(const std::vector<Statement> &statements) {
  return Phases(statements, {}, {}).are_several();
}

int64_t longest_strip(const std::vector<Statement> &statements) {
  constexpr int64_t usual = 256, least = 32, most_numbers = 8192;
  int64_t length = usual;
  for (const auto arrays = static_cast<int64_t>(Phases(statements, {}, {}).arrays());
       length > least && arrays * length > most_numbers;)
    length /= 2;
  return length;
}

std::string over_strip(const std::vector<Statement> &statements, const Strip &strip, const Collected &collected) {
  return Phases(statements, strip, collected).text();
}

} // namespace repro_minify
