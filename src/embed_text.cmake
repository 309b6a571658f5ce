# embed_text(TARGET FOLDER NAME): the file FOLDER/NAME.inc as the string NAME_text in the target. What a repro contains as
# text is compiled into the program too, so that a repro does what was checked.
function(embed_text target folder name)
  set(file ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${name}.inc)
  file(READ ${file} text)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_text.cpp @ONLY CONTENT
"// Generated from ${folder}/${name}.inc.
namespace repro_minify {
extern const char *const ${name}_text;
const char *const ${name}_text = R\"embedded(@text@)embedded\";
} // namespace repro_minify
")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  add_library(${name}_text OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}_text.cpp)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${name}_text>)
endfunction()
