// The Identity: all that an answer depends on beside the question, field by field. The same question under the same
// Identity has the same answer, so that an earlier answer can be used again. Where two differ, a person is told in
// what.
#pragma once
#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace repro_minify {

class Identity {
public:
  struct Field {
    std::string name; ///< as a person calls it: "calls", "the model's file"
    std::string value;
    bool operator==(const Field &) const = default;
  };

  void add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }
  void add(std::string name, const char *value) { add(std::move(name), std::string(value)); }
  void add(std::string name, bool value) { add(std::move(name), value ? "yes" : "no"); }
  void add(std::string name, std::integral auto value) { add(std::move(name), std::to_string(value)); }
  /// At full precision.
  void add(std::string name, double value);
  /// Adds the digest of a content that is too long to be read. Empty: the content is not known, and the field equals
  /// none of another process.
  void add_content(std::string name, const std::string &digest);
  /// The content of a file, or that there is none.
  void add_file(std::string name, const std::string &path);
  void add_all(const Identity &other);

  const std::vector<Field> &fields() const { return fields_; }
  bool operator==(const Identity &) const = default;

private:
  std::vector<Field> fields_;
};

/// "calls is 4, was 3; the content of the plugin has changed"; empty for equal ones.
std::string difference(const Identity &now, const Identity &before);

/// A number that no other process has: what must not be equal to anything is named by it.
const std::string &name_of_this_process();

} // namespace repro_minify
