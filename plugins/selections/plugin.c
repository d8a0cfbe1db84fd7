/* plugin.c: the algorithms of the selections plugin. */
#include <sluice/plugin.h>

SL_DECLARE(beam_gas);
SL_DECLARE(calo_digits);
SL_DECLARE(cluster_pairs);
SL_DECLARE(composites);
SL_DECLARE(cone_jets);
SL_DECLARE(dec_reports);
SL_DECLARE(decide);
SL_DECLARE(dielectron);
SL_DECLARE(dimuon);
SL_DECLARE(dimuon_no_ip);
SL_DECLARE(dimuon_soft);
SL_DECLARE(displaced_leptons);
SL_DECLARE(displaced_velo_tracks);
SL_DECLARE(drell_yan);
SL_DECLARE(error_banks);
SL_DECLARE(fit);
SL_DECLARE(gec);
SL_DECLARE(high_et);
SL_DECLARE(ks_to_pipi);
SL_DECLARE(lambda_to_ppi);
SL_DECLARE(large_clusters);
SL_DECLARE(low_pt_muon);
SL_DECLARE(masses);
SL_DECLARE(odin);
SL_DECLARE(one_muon_stub);
SL_DECLARE(pairs);
SL_DECLARE(particles);
SL_DECLARE(quirks);
SL_DECLARE(passthrough);
SL_DECLARE(rich_alignment);
SL_DECLARE(routing_bits);
SL_DECLARE(sel_reports);
SL_DECLARE(single_high_pt);
SL_DECLARE(track_mva);
SL_DECLARE(two_body_decay);
SL_DECLARE(two_ks);
SL_DECLARE(two_photons);
SL_DECLARE(two_track_charm);
SL_DECLARE(two_track_ks);
SL_DECLARE(two_track_mva);
SL_DECLARE(two_track_score);
SL_DECLARE(velo_micro_bias);
SL_DECLARE(vertex_pairs);
SL_DECLARE(where_cluster_pairs);
SL_DECLARE(where_clusters);
SL_DECLARE(where_composites);
SL_DECLARE(where_events);
SL_DECLARE(where_jets);
SL_DECLARE(where_particles);
SL_DECLARE(where_stubs);
SL_DECLARE(where_velo_tracks);
SL_DECLARE(where_vertex_pairs);
SL_DECLARE(where_vertices);
#ifdef SL_TARGET_CPU /* these run on the host */
SL_DECLARE(key);
#endif

/* clang-format off: one entry per line */
static const struct sl_algorithm *const algorithms[] = {
    SL_ENTRY(beam_gas),
    SL_ENTRY(calo_digits),
    SL_ENTRY(cluster_pairs),
    SL_ENTRY(composites),
    SL_ENTRY(cone_jets),
    SL_ENTRY(dec_reports),
    SL_ENTRY(decide),
    SL_ENTRY(dielectron),
    SL_ENTRY(dimuon),
    SL_ENTRY(dimuon_no_ip),
    SL_ENTRY(dimuon_soft),
    SL_ENTRY(displaced_leptons),
    SL_ENTRY(displaced_velo_tracks),
    SL_ENTRY(drell_yan),
    SL_ENTRY(error_banks),
    SL_ENTRY(fit),
    SL_ENTRY(gec),
    SL_ENTRY(high_et),
    SL_ENTRY(ks_to_pipi),
    SL_ENTRY(lambda_to_ppi),
    SL_ENTRY(large_clusters),
    SL_ENTRY(low_pt_muon),
    SL_ENTRY(masses),
    SL_ENTRY(odin),
    SL_ENTRY(one_muon_stub),
    SL_ENTRY(pairs),
    SL_ENTRY(particles),
    SL_ENTRY(quirks),
    SL_ENTRY(passthrough),
    SL_ENTRY(rich_alignment),
    SL_ENTRY(routing_bits),
    SL_ENTRY(sel_reports),
    SL_ENTRY(single_high_pt),
    SL_ENTRY(track_mva),
    SL_ENTRY(two_body_decay),
    SL_ENTRY(two_ks),
    SL_ENTRY(two_photons),
    SL_ENTRY(two_track_charm),
    SL_ENTRY(two_track_ks),
    SL_ENTRY(two_track_mva),
    SL_ENTRY(two_track_score),
    SL_ENTRY(velo_micro_bias),
    SL_ENTRY(vertex_pairs),
    SL_ENTRY(where_cluster_pairs),
    SL_ENTRY(where_clusters),
    SL_ENTRY(where_composites),
    SL_ENTRY(where_events),
    SL_ENTRY(where_jets),
    SL_ENTRY(where_particles),
    SL_ENTRY(where_stubs),
    SL_ENTRY(where_velo_tracks),
    SL_ENTRY(where_vertex_pairs),
    SL_ENTRY(where_vertices),
#ifdef SL_TARGET_CPU
    SL_ENTRY(key),
#endif
};
/* clang-format on */

SL_PLUGIN("selections", SLUICE_VERSION,
          "event selection: track and vertex fits, selection lines, decisions and reports");
