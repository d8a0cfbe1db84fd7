# The page that `sluice run --serve` sends: page.html with page.css and the scripts in place of the comments with their names.
# Makes sl_page_html.h in the folder ${page_embedded}, which defines the text sl_page_html, and page.html in the build tree.
set(page_scripts format dom poll state alarms entries tables plot histograms event main)

function(sluice_read_page result file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/page/${file})
  file(READ ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/page/${file} text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

sluice_read_page(page_text page.html)
sluice_read_page(page_style page.css)
set(page_code "")
foreach(script ${page_scripts})
  sluice_read_page(part ${script}.js)
  string(APPEND page_code "${part}\n")
endforeach()
string(REPLACE "/* page.css */\n" "${page_style}" page_text "${page_text}")
string(REPLACE "/* page.js */\n" "${page_code}" page_text "${page_text}")
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/page.html CONTENT "${page_text}" @ONLY)
sluice_embed_text(page_embedded ${CMAKE_CURRENT_BINARY_DIR}/page.html sl_page_html)
