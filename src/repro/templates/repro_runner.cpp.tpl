// {{headline:x-cpp-comment}}
//
{{found:x-cpp-comment-lines}}
// It shows from Python only: {{why:x-cpp-comment}}.
// This program runs repro.py, with the interpreter that REPRO_PYTHON names (default: python3).
// It ends as that does: with an error in its last statement while the failure is there, and with 0 once it is gone.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

int main() {
  const char* named = std::getenv("REPRO_PYTHON");
  const char* python = named ? named : "python3";  // its own name tells it where its packages are
  const std::string script = (std::filesystem::path(__FILE__).parent_path() / "repro.py").string();
  std::printf("It shows from Python only; running repro.py\n");
  std::fflush(stdout);
  execlp(python, python, script.c_str(), static_cast<char*>(nullptr));
  std::perror("cannot be tried, no Python");
  return 2;
}
