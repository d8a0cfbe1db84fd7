# Tests of the tracking algorithms; included by CMakeLists.txt.
foreach(test search_by_triplet search_random three_hit_filter consolidate kalman_filter count_tracks select_tracks)
  sluice_add_velo_test(velo_${test}_test ${test}_test.c)
endforeach()
