// A harness gives bytes of a stranger's to what reads them in the tool. libFuzzer makes bytes for it as long as one
// likes (libfuzzer.cpp), and a test tries those that are kept in corpora/ (corpora_test.cpp).
#pragma once
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace repro_minify::fuzz {

/// Refusing the bytes as the tool would is as good as taking them: whatever else leaves `run` is a finding.
struct Harness {
  std::string name; ///< of its file and of its folder in corpora/
  std::function<void(std::string_view)> run;
};

/// One of them in each file, as a static object.
class Registered {
public:
  explicit Registered(Harness harness);
};
const std::vector<Harness> &harnesses();

/// Throws std::logic_error unless `holds`, which has to be so whatever the bytes are.
inline void require(bool holds, const char *what) {
  if (!holds)
    throw std::logic_error(what);
}

} // namespace repro_minify::fuzz
