// Words, lists and tables as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace repro_minify {

// Words in a row.

/// Empty words at the begin have nothing behind them.
inline std::string joined(const std::vector<std::string> &words, const std::string &between = ", ") {
  std::string text;
  for (const auto &word : words)
    text += (text.empty() ? "" : between) + word;
  return text;
}

/// The same of items that are no words: `text_of` makes one of each.
template <typename Items, typename TextOf>
std::string joined(const Items &items, const std::string &between, const TextOf &text_of) {
  std::vector<std::string> words;
  for (const auto &item : items)
    words.push_back(text_of(item));
  return joined(words, between);
}

/// "1 check", "2 checks".
inline std::string counted(std::size_t count, const std::string &word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

/// "2, 3".
inline std::string joined_numbers(const std::vector<std::int64_t> &numbers) {
  return joined(numbers, ", ", [](std::int64_t number) { return std::to_string(number); });
}

/// Returns at most `most` bytes of a text in UTF-8, without half a character at the end.
std::string cut_at_character(const std::string &text, std::size_t most);

/// The lines of a text, without their ends.
std::vector<std::string> split_lines(const std::string &text);

/// True if the word stands in the text, not as a part of a longer one.
bool mentions(const std::string &text, const std::string &word);

/// The words of a text, which blanks part.
std::set<std::string, std::less<>> set_of_words(const std::string &text);

// A command line as words, without a shell.

/// Splits at blanks. As a POSIX shell reads them: 'single quotes' keep everything, "double quotes" keep all but \" and
/// \\, a backslash outside quotes keeps the next character. Nothing else has a meaning: no variables, no patterns, no
/// redirection. Throws std::invalid_argument for a quote that is not closed or a backslash at the end.
std::vector<std::string> split_words(const std::string &line);

// The word that a mistyped one was meant to be.

/// The first of those of `known` that are nearest to `word`, by letters that are missing, too many, others, or swapped
/// with their neighbour; in either case. Empty where that is more than one in three of them, hyphens in front not
/// counted.
std::string closest(const std::string &word, const std::vector<std::string> &known);

/// "; did you mean X?" with that, or nothing.
std::string did_you_mean(const std::string &word, const std::vector<std::string> &known);

// Tables for people, as text.

/// Text from a model must not move the cursor.
std::string clean(const std::string &text);

/// Columns as wide as their widest cell, one line for each row. The first row is the heading.
std::string table_text(const std::vector<std::vector<std::string>> &rows);

// Where an element of a tensor is, as people write it.

/// The coordinates of a row-major index into a tensor of these sizes.
inline std::vector<std::int64_t> position_of(std::int64_t index, const std::vector<std::int64_t> &sizes) {
  std::vector<std::int64_t> position(sizes.size());
  for (std::size_t dim = sizes.size(); dim-- > 0; index /= sizes[dim])
    position[dim] = index % sizes[dim];
  return position;
}

/// "[2, 3]"; "[]" where there is no dimension.
inline std::string position_text(std::int64_t index, const std::vector<std::int64_t> &sizes) {
  return "[" + joined_numbers(position_of(index, sizes)) + "]";
}

// Takes out of an exception's message what differs from run to run.

/// Addresses, paths, names of values and numbers become signs, lists of numbers one, and white space one blank: the
/// same for every shape, machine and build. A number that is part of a name (int64, BFloat16), or is one ("op_type:
/// 24"), says what is wrong, and stays. 300 bytes at most. Takes time and stack in no other way than a loop over the
/// text does: a model may raise megabytes of anything.
std::string without_particulars(const std::string &message);

} // namespace repro_minify
