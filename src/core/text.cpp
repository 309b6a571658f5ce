#include "core/text.h"

#include "core/escape.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace repro_minify {

std::string cut_at_character(const std::string &text, std::size_t most) {
  while (most > 0 && most < text.size() && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80)
    --most;
  return text.substr(0, most);
}

std::vector<std::string> split_lines(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

bool mentions(const std::string &text, const std::string &word) {
  const auto is_part = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (!(at > 0 && is_part(at - 1)) && !is_part(at + word.size()))
      return true;
  return false;
}

std::set<std::string, std::less<>> set_of_words(const std::string &text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::vector<std::string> split_words(const std::string &line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  const auto add = [&](char c) {
    if (!in_word)
      words.emplace_back();
    in_word = true;
    words.back() += c;
  };
  const auto begin_word = [&] {
    if (!in_word)
      words.emplace_back(); // "" is a word too
    in_word = true;
  };
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool escapes =
        c == '\\' &&
        (quote == 0 || (quote == '"' && i + 1 < line.size() && (line[i + 1] == '"' || line[i + 1] == '\\')));
    if (escapes) {
      if (++i == line.size())
        throw std::invalid_argument("a backslash at the end");
      add(line[i]);
    } else if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      begin_word();
      quote = quote != 0 ? 0 : c;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
    } else {
      add(c);
    }
  }
  if (quote != 0)
    throw std::invalid_argument(std::string("a quote ") + quote + " that is not closed");
  return words;
}

namespace {

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// The edit distance of Damerau and Levenshtein, where no letter is edited twice (optimal string alignment).
size_t distance(const std::string &a, const std::string &b) {
  std::vector<std::vector<size_t>> edits(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  return edits.back().back();
}

constexpr size_t longest_word = 60;  // of those that are looked at: a name has fewer
constexpr size_t fewest_letters = 3; // of the beginning of a name that is taken for it

/// Returns the name that begins so; "" where none does, or several do.
std::string only_one_that_begins_with(const std::string &word, const std::vector<std::string> &known) {
  const auto begins = [&](const std::string &name) { return in_lower_case(name).rfind(in_lower_case(word), 0) == 0; };
  return std::count_if(known.begin(), known.end(), begins) == 1 ? *std::find_if(known.begin(), known.end(), begins)
                                                                : "";
}

// No locale has a say.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

/// How long the run of characters is that begins there.
template <typename Is> size_t run(std::string_view text, size_t at, Is is) {
  size_t end = at;
  while (end < text.size() && is(text[end]))
    ++end;
  return end - at;
}

/// `found(text, at)`: how much of the text is replaced there, 0 for nothing.
template <typename Found> std::string replaced(std::string_view text, Found found, const char *by) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t length = found(text, at);
    if (length > 0)
      result += by;
    else
      result += text[at];
    at += length > 0 ? length : 1;
  }
  return result;
}

size_t address(std::string_view text, size_t at) {
  const size_t digits = text.substr(at, 2) == "0x" ? run(text, at + 2, is_hex) : 0;
  return digits > 0 ? 2 + digits : 0;
}

/// "/a/b", "./b" and "../b", at the beginning of a word.
size_t path(std::string_view text, size_t at) {
  if (at > 0 && !is_one_of(text[at - 1], " \"'(="))
    return 0;
  const size_t slash = at + run(text, at, [](char c) { return c == '.'; });
  if (slash > at + 2 || slash >= text.size() || text[slash] != '/')
    return 0;
  const size_t rest = run(text, slash + 1, [](char c) { return !is_one_of(c, " \":,()'"); });
  return rest > 0 ? slash + 1 + rest - at : 0;
}

/// Returns the length of a value's name, which begins at `at`, after PyTorch's "%" or words that ONNX Runtime has
/// before it (in any backend's message); 0 where there is none.
size_t value_name(std::string_view text, size_t at) {
  const auto is_name = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; };
  for (const char *before : {"%", "parameter (", "node (", "Node (", "with name '", "Name:'"})
    if (text.substr(0, at).ends_with(before))
      return run(text, at, is_name);
  return 0;
}

/// The number in a name that TorchInductor gives by counting, as "buf6", "tmp0", "in_ptr1", "arg2_1" and "primals_3":
/// it changes with all that stands before. Returns the length of the number that begins at `at`; 0 where there is none.
size_t counted_name(std::string_view text, size_t at) {
  if (at == 0 || is_digit(text[at - 1])) // within a number, which was looked at where it begins
    return 0;
  const size_t digits = run(text, at, is_digit);
  for (const std::string_view before : {"buf", "tmp", "in_ptr", "out_ptr", "arg", "primals_", "tangents_"}) {
    if (digits == 0 || !text.substr(0, at).ends_with(before))
      continue;
    const size_t begin = at - before.size();
    const size_t is_second = before == "arg" && text.substr(at + digits, 2) == "_1" ? 2 : 0;
    const size_t end = at + digits + is_second;
    const auto goes_on = [&](size_t place) { return is_letter(text[place]) || is_digit(text[place]); };
    if ((begin == 0 || !goes_on(begin - 1)) && (end == text.size() || (!goes_on(end) && text[end] != '_')))
      return before == "arg" && is_second == 0 ? 0 : end - at;
  }
  return 0;
}

/// The number in "kind: 24" is a name: it gets a letter before it, and is none any more.
std::string with_names_of_kinds(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const auto word = text.substr(at, 4);
    if (word != "type" && word != "kind" && word != "code") {
      result += text[at++];
      continue;
    }
    at += 4;
    result += word;
    const size_t blank = at + (at < text.size() && text[at] == ':');
    if (blank + 1 < text.size() && text[blank] == ' ' && is_digit(text[blank + 1])) {
      result += " N";
      at = blank + 1;
    }
  }
  return result;
}

size_t number(std::string_view text, size_t at) {
  const auto is_part_of_a_name = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; };
  if (at > 0 && is_part_of_a_name(text[at - 1]))
    return 0;
  size_t end = at + is_one_of(text[at], "+-");
  const size_t digits = run(text, end, is_digit);
  if (digits == 0)
    return 0;
  end += digits;
  if (end < text.size() && text[end] == '.')
    if (const size_t fraction = run(text, end + 1, is_digit))
      end += 1 + fraction;
  if (end < text.size() && is_one_of(text[end], "eE")) {
    const size_t sign = end + 1 < text.size() && is_one_of(text[end + 1], "+-");
    if (const size_t exponent = run(text, end + 1 + sign, is_digit))
      end += 1 + sign + exponent;
  }
  return end < text.size() && (is_letter(text[end]) || text[end] == '_') ? 0 : end - at;
}

/// All but the first of a list of numbers: ", #", ",#".
size_t rest_of_list(std::string_view text, size_t at) {
  if (at == 0 || text[at - 1] != '#')
    return 0;
  size_t end = at;
  while (end < text.size() && text[end] == ',') {
    const size_t next = end + 1 + (end + 1 < text.size() && text[end + 1] == ' ');
    if (next >= text.size() || text[next] != '#')
      break;
    end = next + 1;
  }
  return end - at;
}

size_t white_space(std::string_view text, size_t at) {
  return run(text, at, [](char c) { return is_one_of(c, " \t\r\n"); });
}

} // namespace

std::string closest(const std::string &word, const std::vector<std::string> &known) {
  std::string found;
  if (word.size() > longest_word)
    return found;
  const size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  size_t least = letters == 2 ? 2 : letters / 3 + 1;
  for (const auto &each : known)
    if (const size_t edits = distance(in_lower_case(word), in_lower_case(each)); edits < least) {
      least = edits;
      found = each;
    }
  return found.empty() && letters >= fewest_letters ? only_one_that_begins_with(word, known) : found;
}

std::string did_you_mean(const std::string &word, const std::vector<std::string> &known) {
  const std::string meant = closest(word, known);
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

std::string clean(const std::string &text) {
  std::string result = visible_text(text);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return result;
}

std::string table_text(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto &row : rows) {
    for (size_t i = 0; i < row.size(); ++i)
      text += row[i] + std::string(i + 1 < row.size() ? widths[i] + 2 - row[i].size() : 0, ' ');
    text += '\n';
  }
  return text;
}

std::string without_particulars(const std::string &message) {
  std::string text = replaced(message, address, "@");
  text = replaced(text, path, "PATH");
  text = replaced(text, value_name, "");
  text = replaced(text, counted_name, "#");
  text = replaced(with_names_of_kinds(text), number, "#");
  text = replaced(text, rest_of_list, "");
  return replaced(text, white_space, " ").substr(0, 300);
}

} // namespace repro_minify
