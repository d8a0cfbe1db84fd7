sluice_add_test(graph_test graph_test.c graph_fake.c)
target_compile_definitions(graph_test PRIVATE _GNU_SOURCE GRAPH_CASES="${CMAKE_CURRENT_SOURCE_DIR}/graph_cases")
