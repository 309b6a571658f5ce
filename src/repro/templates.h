// The files of templates/, as they were when the program was built.
#pragma once

namespace repro_minify {

struct EmbeddedText {
  const char *name, *text;
};
/// The last has no name.
extern const EmbeddedText templates[];

} // namespace repro_minify
