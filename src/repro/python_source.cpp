#include "repro/script_text.h"

#include "core/text.h"
#include "program/values.h"
#include "repro/render.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

namespace repro_minify {
namespace {

using NamesByKind = std::map<std::string, std::set<std::string>>; // "method": {"add_", ...}

NamesByKind read_python_names() {
  NamesByKind names;
  std::istringstream words(template_text("python_names.txt"));
  std::set<std::string> *list = nullptr;
  for (std::string word; words >> word;)
    if (word.ends_with(':'))
      list = &names[word.substr(0, word.size() - 1)];
    else if (list)
      list->insert(word);
  // These are the methods of TorchScript's lists and dictionaries.
  names["method"].insert({"append", "extend", "insert", "pop", "keys", "items", "clear", "setdefault", "popitem"});
  return names;
}

bool has(const std::string &list, const std::string &name) {
  static const NamesByKind names = read_python_names();
  const auto found = names.find(list);
  return found != names.end() && found->second.contains(name);
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Where a text literal that begins at `at` ends, behind its quote.
size_t end_of_quoted(const std::string &text, size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote)
    at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

/// The end of the first argument of the call whose bracket is before `at`: its comma or the closing bracket.
size_t end_of_argument(const std::string &text, size_t at) {
  for (int depth = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_quoted(text, at);
      continue;
    }
    if (depth == 0 && (c == ',' || c == ')'))
      return at;
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    ++at;
  }
  return at;
}

/// The name in Python of a number that follows `before`: "torch.float16" is TorchScript's 5 behind "dtype=".
std::string named_number(const std::string &before, const std::string &number) {
  static const std::vector<std::string> formats = {"torch.contiguous_format", "torch.preserve_format",
                                                   "torch.channels_last", "torch.channels_last_3d"};
  if (number.size() > 2 || !std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c); }))
    return number;
  const size_t index = std::stoul(number);
  if ((before.ends_with("dtype=") || before.ends_with(".to(")) &&
      index < static_cast<size_t>(at::ScalarType::Undefined))
    return "torch." + dtype_name(static_cast<at::ScalarType>(index));
  if (before.ends_with("memory_format=") && index < formats.size())
    return formats[index];
  return before.ends_with("layout=") && index == 0 ? "torch.strided" : number;
}

/// Rewrites one line or more of TorchScript.
class Rewriter {
public:
  Rewriter(std::string text, PythonCalls calls) : text_(std::move(text)), calls_(calls) {}

  std::string rewritten() {
    while (at_ < text_.size())
      step();
    return std::move(out_);
  }

private:
  void step() {
    const char c = text_[at_];
    if (c == '"' || c == '\'')
      return copy(end_of_quoted(text_, at_) - at_);
    const bool begins = at_ == 0 || (!is_word(text_[at_ - 1]) && text_[at_ - 1] != '.');
    if (begins && std::isdigit(static_cast<unsigned char>(c)))
      return number();
    if (begins && is_word(c))
      return word();
    if (text_.compare(at_, 3, ", )") == 0)
      return replace(3, ")");
    if (text_.compare(at_, 6, "(self)") == 0 && (at_ == 0 || !is_word(text_[at_ - 1]))) // no parameter list
      return replace(6, "self");
    copy(1);
  }

  void copy(size_t size) {
    out_ += text_.substr(at_, size);
    at_ += size;
  }

  void replace(size_t size, const std::string &by) {
    out_ += by;
    at_ += size;
  }

  /// "1." is 1.0, and a dtype has a name.
  void number() {
    size_t end = at_;
    while (end < text_.size() && (is_word(text_[end]) || text_[end] == '.'))
      ++end;
    replace(end - at_, named_number(out_, text_.substr(at_, end - at_)));
    if (out_.back() == '.')
      out_ += '0';
  }

  void word() {
    size_t end = at_;
    while (end < text_.size() && (is_word(text_[end]) || text_[end] == '.'))
      ++end;
    const std::string name = text_.substr(at_, end - at_);
    const bool is_call = end < text_.size() && text_[end] == '(';
    if (is_call && name.starts_with("torch.") && name.find('.', 6) == std::string::npos)
      return call(name.substr(6), end + 1);
    if (is_call && (name == "annotate" || name == "unchecked_cast"))
      return replace(end - at_, "torch.jit.annotate");
    if (name.starts_with("ops."))
      return replace(end - at_, "torch." + name);
    replace(end - at_, name == "Tensor" ? "torch.Tensor" : name);
  }

  void call(const std::string &name, size_t arguments) {
    const bool usual = calls_ == PythonCalls::AsUsual;
    if (name == "len" || name == "scalar_tensor" || name == "device")
      return replace(arguments - at_, (name == "len" ? "" : "torch.") + name + "(");
    if (usual && has("torch.", name))
      return replace(arguments - at_, "torch." + name + "(");
    if (usual && has("torch.nn.functional.", name))
      return replace(arguments - at_, "torch.nn.functional." + name + "(");
    if (usual && has("method", name))
      return method(name, arguments);
    replace(arguments - at_, "torch.ops.aten." + name + "(");
  }

  /// torch.add_(x, 1) as x.add_(1).
  void method(const std::string &name, size_t arguments) {
    const size_t end = end_of_argument(text_, arguments);
    const std::string self = Rewriter(text_.substr(arguments, end - arguments), calls_).rewritten();
    const auto is_part = [](char c) { return is_word(c) || c == '.' || c == '[' || c == ']'; };
    const bool is_plain = std::all_of(self.begin(), self.end(), is_part) || self.ends_with(')'); // a call
    out_ += is_plain ? self : "(" + self + ")";
    out_ += "." + name + "(";
    at_ = end;
    if (at_ < text_.size() && text_[at_] == ',')
      at_ = std::min(text_.find_first_not_of(' ', at_ + 1), text_.size());
  }

  const std::string text_;
  const PythonCalls calls_;
  size_t at_ = 0;
  std::string out_;
};

/// Each signature in one line, and four blanks where TorchScript's printer has two.
std::vector<std::string> lines_of(const std::string &script) {
  std::vector<std::string> lines;
  for (const std::string &line : split_lines(script)) {
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (!lines.empty() && lines.back().starts_with("def ") && !lines.back().ends_with(':'))
      lines.back() += " " + line.substr(indent);
    else
      lines.push_back(std::string(indent, ' ') + line);
  }
  return lines;
}

/// "_0 = f(x)" and "return _0" are one line at the end.
void return_directly(std::vector<std::string> &lines) {
  if (lines.size() < 2 || !lines.back().starts_with("    return "))
    return;
  const std::string name = lines.back().substr(11);
  const std::string &before = lines[lines.size() - 2];
  if (!before.starts_with("    " + name + " = "))
    return;
  const std::string expression = before.substr(4 + name.size() + 3);
  lines.pop_back();
  lines.back() = "    return " + expression;
}

/// Removes names that are never read, as of a call made for its effect alone, and lines that have no effect either.
void drop_unread_names(std::vector<std::string> &lines) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t begin = lines[i].find_first_not_of(' ');
    const size_t end = begin == std::string::npos ? begin : lines[i].find(" = ", begin);
    if (end == std::string::npos || lines[i][begin] != '_')
      continue;
    const std::string name = lines[i].substr(begin, end - begin);
    const bool reads = std::any_of(lines.begin(), lines.end(), [&](const std::string &line) {
      const size_t from = &line == &lines[i] ? end : 0;
      return line.find(name, from) != std::string::npos;
    });
    if (reads || name.find_first_of("(,. ") != std::string::npos) // "_a, _b, = xs": one of them may be read
      continue;
    lines[i].erase(begin, end + 3 - begin);
    if (!lines[i].ends_with(')')) // not even an effect
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i--));
  }
}

} // namespace

PythonSource python_source(const std::string &script, PythonCalls calls) {
  std::vector<std::string> lines = lines_of(Rewriter(script, calls).rewritten());
  return_directly(lines);
  drop_unread_names(lines);
  PythonSource source;
  int methods = 0;
  for (const auto &line : lines) {
    methods += line.starts_with("def ");
    source.text += line + "\n";
  }
  source.one_function = methods == 1 && source.text.find("self.") == std::string::npos;
  for (const char *type : {"Dict", "List", "Optional", "Tuple"})
    if (source.text.find(std::string(type) + "[") != std::string::npos)
      source.types.emplace_back(type);
  return source;
}

std::string as_function(const PythonSource &source, const std::string &name) {
  std::string text = source.text;
  const size_t end = text.find(')');
  size_t self = text.find("(self");
  if (self == std::string::npos || self > end)
    return text;
  const size_t next = text.compare(self + 5, 2, ", ") == 0 ? self + 7 : self + 5;
  text.erase(self + 1, next - self - 1);
  const size_t def = text.find("def forward");
  return def == std::string::npos ? text : text.replace(def + 4, 7, name);
}

} // namespace repro_minify
