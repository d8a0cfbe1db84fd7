# What the simulation is made of, but for its source: the plugin, its tests and its benchmark are built of this.
set(sim_folder ${CMAKE_CURRENT_LIST_DIR})
set(sim_sources simulation event random species crossing generator decay phase_space transport secondary
                magnet field_plane lanes spectrometer_planes spectrometer spectrometer_material flight_decay absorbers soft
                bank_list odin velo_charge velo_digits velo_banks ut_charge ut_digits ut_banks
                scifi_light scifi_digits scifi_banks ecal_digits ecal_banks photon_banks
                muon_readout muon_digits muon_background muon_banks truth)
list(TRANSFORM sim_sources PREPEND ${sim_folder}/)
list(TRANSFORM sim_sources APPEND .c)
set(sim_includes ${sim_folder} ${PROJECT_SOURCE_DIR}/plugins/io/include ${PROJECT_SOURCE_DIR}/plugins/truth/include)
