// A text from a template file (src/repro/templates/) and values for its holes.
#pragma once
#include "core/json.h"

#include <string>

namespace repro_minify {

/// `name`: of the file, as "repro.cpp.tpl". `values` is an object: a text or a number fills the hole of its name, each
/// with the escaping that the hole asks for ({{x:x-cpp-comment}}; templates/README.md lists them), and shows the
/// section of its name unless it is empty; true shows the section, false, null or nothing at all show "no_" and its
/// name instead; a list shows it once for each element (an object, or a text as {{value}}), an object once.
std::string render(const std::string &name, const json &values);

/// The file of that name, as it was when the program was built. Throws std::logic_error where there is none.
std::string template_text(const std::string &name);

/// Returns what the head of every page has: `css`, `js`, and the `policy` that lets a page use these two and nothing
/// else: no connection, no resource.
json head_json();

// The files of templates/, as they were when the program was built.

struct EmbeddedText {
  const char *name, *text;
};
/// The last has no name.
extern const EmbeddedText templates[];

} // namespace repro_minify
