# embed_text(TARGET FOLDER NAME): the file FOLDER/NAME.inc as the string NAME_text in the target. What a repro contains
# as text is compiled into the program too, so that a repro does what was checked.
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

# embed_templates(TARGET FOLDER): every FOLDER/*.tpl, *.txt, *.css and *.js in one table, as repro/render.h declares
# it.
function(embed_templates target folder)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.tpl
       ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.txt ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.css
       ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.js)
  set(rows "")
  foreach(file ${files})
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    string(APPEND rows "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/templates.cpp @ONLY CONTENT
"// Generated from ${folder}.
#include \"repro/render.h\"

namespace repro_minify {
const EmbeddedText templates[] = {
@rows@    {nullptr, nullptr}};
} // namespace repro_minify
")
  add_library(${target}_templates OBJECT ${CMAKE_CURRENT_BINARY_DIR}/templates.cpp)
  target_include_directories(${target}_templates PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_templates>)
endfunction()
