// repro-minify as a library: the whole job in one call.
//
//   library_example failing.pt freeze out/
#include <repro_minify/minify.h>

#include <iostream>

int main(int argc, char **argv) {
  if (argc != 4) {
    std::cerr << "usage: library_example MODEL BACKEND FOLDER\n";
    return 2;
  }
  repro_minify::MinifyOptions options;
  options.backends = {argv[2]};
  options.folder = argv[3];
  options.verify = false; // building repro.cpp takes longer than all else
  options.listener.message = [](repro_minify::Severity, const std::string &text) { std::cerr << text << '\n'; };
  try {
    const repro_minify::Result result = repro_minify::minify(argv[1], options);
    if (result.ending != repro_minify::Result::Ending::Minimised) {
      std::cerr << result.why << '\n';
      return 1;
    }
    std::cout << *result.program->graph << result.facts.before.operators << " operators to "
              << result.facts.after.operators << " in " << result.facts.checks << " checks: " << result.folder
              << "/repro.cpp\n";
    return 0;
  } catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
