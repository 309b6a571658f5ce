#include "repro_minify/identity.h"

#include "core/digest.h"
#include "core/number_text.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace repro_minify {
namespace {

constexpr const char *content = "sha256:", *unknown = "unknown:";

std::string value_of(const Identity &identity, const std::string &name, bool &found) {
  for (const auto &field : identity.fields())
    if (field.name == name) {
      found = true;
      return field.value;
    }
  found = false;
  return "";
}

std::string readable(const std::string &value) {
  constexpr size_t most = 80;
  return value.empty() ? "nothing" : value.size() > most ? value.substr(0, most) + "..." : value;
}

std::string changed(const std::string &name, const std::string &now, const std::string &before) {
  if (now.starts_with(unknown) || before.starts_with(unknown))
    return "the content of " + name + " cannot be compared";
  if (now.starts_with(content) && before.starts_with(content))
    return "the content of " + name + " has changed";
  return name + " is " + readable(now) + ", was " + readable(before);
}

} // namespace

void Identity::add(std::string name, double value) {
  add(std::move(name), shortest_text(value));
}

void Identity::add_content(std::string name, const std::string &digest) {
  add(std::move(name), digest.empty() ? unknown + name_of_this_process() : content + digest);
}

void Identity::add_file(std::string name, const std::string &path) {
  add_content(std::move(name), digest_of_file(path));
}

void Identity::add_all(const Identity &other) {
  fields_.insert(fields_.end(), other.fields_.begin(), other.fields_.end());
}

std::string difference(const Identity &now, const Identity &before) {
  std::vector<std::string> all;
  bool found = false;
  for (const auto &field : now.fields())
    if (const std::string value = value_of(before, field.name, found); !found)
      all.push_back(field.name + " is new");
    else if (value != field.value)
      all.push_back(changed(field.name, field.value, value));
  for (const auto &field : before.fields())
    if (value_of(now, field.name, found); !found)
      all.push_back(field.name + " is no more");
  constexpr size_t most = 6;
  std::string text;
  for (size_t i = 0; i < std::min(all.size(), most); ++i)
    text += (i ? "; " : "") + all[i];
  return text + (all.size() > most ? "; and " + std::to_string(all.size() - most) + " more" : "");
}

const std::string &name_of_this_process() {
  static const std::string name = [] {
    std::random_device random;
    Digest digest;
    for (int i = 0; i < 8; ++i)
      digest.add(random());
    digest.add(static_cast<std::uint64_t>(getpid()));
    digest.add(static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()));
    return digest.text();
  }();
  return name;
}

} // namespace repro_minify
