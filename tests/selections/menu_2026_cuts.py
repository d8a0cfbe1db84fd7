"""Requirements of the lines of 2026, written down independently of graphs/menus/2026: menu_2026_candidates.py explains the text.
Thresholds are those of the default set, limits of chi2 per degree of freedom those of the VELO fit. "The menu of 2026" in the README
of plugins/selections has choices where LHCb's requirement is not known. mm, MeV."""
from collections import namedtuple

from menu_2026_candidates import NO_PV, Variant

# `kind`: of candidates, which is the algorithm. `containers`: the inputs of the line with candidates and their children.
# `base`: entries of the candidate that the limits do not determine. `accepted`, `rejected`: candidates with other entries.
Line = namedtuple("Line", "kind containers limits base variants accepted rejected pre post events seeds",
                  defaults=({}, (), (), (), 1, 1, "collisions", ("", "")))
LINES = {}


def add(name, kind, containers, limits, **options):
    LINES[name] = Line(kind, containers.split(), limits, **options)


def seeds(name):
    return f"{name}_pre", f"{name}_post"


def both(first, second):
    """All combinations of two lists of variants."""
    return [Variant(a.base | b.base, f"{a.limits};{b.limits}", [*a.accepted, *b.accepted], [*a.rejected, *b.rejected]) for a in first for b in second]


FAST, SLOW = 20000, 4000


def better_of(mass, one, other, width):
    """One of two assignments of masses gives a mass near to `mass`. At each edge the other assignment is farther away."""
    first, second = {"first.p": FAST, "second.p": SLOW}, {"first.p": SLOW, "second.p": FAST}
    return [Variant(p | {name: mass}, f"{name} {limit}") for p, name, limit in
            ((first, one, f"< {mass + width}"), (second, one, f"> {mass - width}"), (second, other, f"< {mass + width}"), (first, other, f"> {mass - width}"))]


D0, K = 1864.83, 493.677
GAS = "-537.5 <= {} < -337.5"
D0_OF_K_PI = better_of(D0, "m(K, pi)", "m(pi, K)", 100)


# -------------------------------------------------------------------------------------------- hadrons, strange

def curve(pt, alpha, start, least, low, *further):
    """TrackMVA's curve of the IP chi2 against pt; a constant limit from 26 GeV on. `low`: a pt below the curve."""
    name = f"log ip_chi2 - curve({pt}, {alpha}, {start}, {least})"
    points = "".join(f"; {name} > 0 if {pt} = {value}" for value in further)
    return [Variant({pt: alpha + 6000}, f"{name} > 0{points}", (), [{pt: low, "ip_chi2": 1e9}]),
            Variant({pt: alpha + 40000}, f"ip_chi2 > {least}; {pt} > {alpha + 26000}")]


add("TrackMVA", "particles", "particles", "chi2_ndof < 2.5; ghost < 0.5; vertex_z > -330",
    variants=curve("pt", 296, 2000, 7.4, 1796, 2446, 3296, 20296, 26286))
# Without a primary vertex eta is 0 and there is no response, so that the pair fails.
add("TwoTrackMVA", "vertices", "dihadron",
    "each pt > 200; 2 < eta < 5; m_corrected > 1000; pt > 1000; chi2 < 20; doca < 0.2; z >= -330; each ip_chi2 > 4; vertex_z >= -330;"
    "score.logit > 2.88; each ghost < 0.5")
D2HH = ("charge 0; pt > 2000; 0 <= chi2 < 20; 2 < eta < 5; doca < 0.2; each pt > 800; each ip > 0.06; ctau(D0) > 0.06; z >= -330;"
        "vertex_z >= -330;")
add("D2KK", "vertices", "dihadron", D2HH + "1764.83 < m(K, K) < 1964.83", base={"rho": 0.01})
add("D2PiPi", "vertices", "dihadron", D2HH + "1764.83 < m(pi, pi) < 1964.83", base={"rho": 0.01})
add("D2KPi", "vertices", "dihadron", D2HH, base={"rho": 0.01}, variants=D0_OF_K_PI)
# The kaon has the charge other than that of the pion of the D*.
DSTAR = {"base": {"sv.rho": 0.01, "first.p": FAST, "second.p": SLOW, "sv.p": 24000, "track.p": 2000},
         "limits": "sv.pt > 500; 0 <= sv.chi2 < 20; 2 < sv.eta < 5; sv.doca < 0.2; sv.each pt > 250; sv.each ip > 0.06; sv.fd_chi2 > 25;"
                   "sv.ctau(D0) > 0.06; sv.z >= -330; sv.vertex_z >= -330",
         "variants": [Variant({"first.charge": -1, "second.charge": 1, "track.charge": 1, "dm(K, pi, pi)": 150},
                              "1764.83 < sv.m(K, pi) < 1964.83; dm(K, pi, pi) < 160", [{"first.charge": 1, "second.charge": -1, "track.charge": -1}],
                              [{"first.charge": 1, "second.charge": -1}, {"track.charge": -1}]),
                      Variant({"first.charge": 1, "second.charge": -1, "track.charge": 1, "dm(pi, K, pi)": 150},
                              "1764.83 < sv.m(pi, K) < 1964.83; dm(pi, K, pi) < 160", [{"first.charge": -1, "second.charge": 1, "track.charge": -1}],
                              [{"first.charge": -1, "second.charge": 1}, {"track.charge": -1}])]}
add("Dst2D0Pi", "composites", "dstar dihadron", **DSTAR)
add("DiProtonHighMass", "vertices", "prompt",
    "has PV; each has PV; each p > 25000; each pt > 5000; each ghost < 0.5; charge 0; chi2 < 16; 8500 < m(p, p) < 12500; pt > 6000;"
    "p > 60000; (pt1 - pt2)/pt < 0.7; (pt2 - pt1)/pt < 0.7")


def kaon(name, words, pair, mass, low, high, pair_limits="", **options):
    """A charged kaon to two particles and a pion."""
    add(name, "composites", "three_body dihadron",
        f"max_doca < 0.2; each pt > 80; each p > 3000; each ip > 0.5; pt > 100; 2 < eta < 5; z > -341; vertex_z >= -341; {words}{pair_limits};"
        f"{K + low} < m({pair}, pi) < {K + high}", base={"dz": 1, "rho": 0, "first.p": 4000, "second.p": 4000, "sv.p": 12000, f"sv.m({pair})": mass},
        accepted=[{"dz": 0, "rho": 1}], rejected=[{"dz": 0, "rho": 0}], **options)


kaon("Kplus2PiEE", "sv.each electron;", "e, e", 150, -100, 50, "sv.m(e, e) > 50")
kaon("Kplus2PiMuMu", "sv.each muon;", "mu, mu", 250, -30, 30)
kaon("Kplus2PiPiPi", "", "pi, pi", 285, -60, 130, pre=0.01)
add("TauToPhiMu", "composites", "phi_track hadron_noip",
    "sv.charge 0; 0 <= sv.chi2 < 10; sv.each p > 3000; sv.each pt > 450; sv.each ip_chi2 > 4; sv.each ip > 0; 2 < sv.eta < 5; sv.pt > 900;"
    "sv.doca < 0.2; sv.fd_chi2 > 10; 989.461 < sv.m(K, K) < 1049.461; sv.z >= -200; sv.vertex_z >= -200; track muon; track.p > 3000;"
    "track.pt > 350; track.ip_chi2 > 9; 2 < track.eta < 5; doca < 0.2; pt > 2500; 1620 < m(K, K, mu) < 2050; 0.07 < ctau of sv(K, K, mu) < 1",
    base={"sv.rho": 0.1, "first.p": 4000, "second.p": 4000})

# ---------------------------------------------------------------------------------------------------- Ks, Lambda

KS = "charge 0; each ip_chi2 > 100; chi2 < 10; ip < 0.3; 400 < m(pi, pi) < 600; z >= -330; vertex_z >= -330;"
add("KsToPiPi", "vertices", "v0", KS, post=0.001)
add("KsToPiPiDoubleMuonMisID", "vertices", "v0", KS + "each muon; each p >= 10000")
add("TwoTrackKs", "vertices", "v0",
    "charge 0; 0 <= chi2 < 20; 2 < eta < 4.2; each ip_chi2 > 50; 455 < m(pi, pi) < 545; pt > 2500; dira > 0.99; each p > 5000; each pt > 470;"
    "ip1 ip2/ip > 0.72; z >= -330; vertex_z >= -330", base={"first.ip": 2, "second.ip": 1})
# 1 - cos below 0.01 is tested at a low momentum, where the mass then is that of a Ks.
TWO_KS = ("V.charge 0; 0 < V.chi2 < 20; V.each pt > 425; V.each p > 3000; 455 < V.m(pi, pi) < 545; V.pt > 1150; 2 < V.eta < 4.2;"
          "V.each ip_chi2 > 15; V.dira > 0.99; V.opening < 0.01 if V.first.p = 3050, V.second.p = 3050; V.ip1 ip2/ip > 0.23;")
add("TwoKs", "vertex_pairs", "v0_pairs v0 v0", TWO_KS.replace("V.", "first.") + TWO_KS.replace("V.", "second."),
    base={"first.first.ip": 2, "first.second.ip": 1, "second.first.ip": 1, "second.second.ip": 2})

def proton_and_pion(limits, charges, opposite, mass="sv.m", if_equal="second"):
    """The proton is the particle of larger p; `if_equal`: which one if they are equal. The mass then is too large, except for particles
    almost at rest. `limits`: P is the proton and N the pion. `charges`: of further particles, if that of the proton is 1. `opposite`:
    entries that are rejected."""
    variants = []
    for proton, pion, names in (("first", "second", "p, pi"), ("second", "first", "pi, p")):
        name = f"{mass}({names})"
        at_rest = {f"{proton}.p": 100, f"{pion}.p": 100, name: 1115}
        variants.append(Variant({f"{proton}.p": FAST, f"{pion}.p": 3000, name: 1115, f"{proton}.charge": 1, f"{pion}.charge": -1} | charges,
                                limits.replace("P.", f"{proton}.").replace("N.", f"{pion}.").replace("MASS", name),
                                [at_rest] if proton == if_equal else [],
                                [*opposite, at_rest | {f"{pion}.p": 101}] + [at_rest] * (proton != if_equal)))
    return variants


add("LambdaLLDetachedTrack", "composites", "lambda_track v0",
    "-200 < z < 250; dz > 1.5; rho > 0.12; sv.doca < 0.1; sv.chi2 < 16; sv.fd_chi2 > 240; sv.pt > 1400; track.pt > 700; track.ip_chi2 > 12;"
    "sv.z - z > 8; sv.pt + track.pt > 2800 if track.pt = 1000; m(Lambda, pi) < 3600", base={"track.pt": 2000, "m(Lambda, pi)": 2300},
    rejected=[{"sv.z": 8, "z": 0}, {"sv.pt": 1800, "track.pt": 1000}],
    variants=proton_and_pion("P.pt > 1200; P.ip_chi2 > 12; N.pt > 130; N.ip_chi2 > 64; 1090 < MASS < 1140", {"track.charge": 1}, [{"track.charge": -1}]))
add("KsLLDetachedTrack", "composites", "ks_track v0",
    "dira > 0.999; -200 < z < 250; dz > 1.5; rho > 0.12; sv.each pt > 470; sv.each ip_chi2 > 64; sv.doca < 0.1; sv.chi2 < 16;"
    "sv.fd_chi2 > 240; sv.pt > 1400; track.pt > 700; track.ip_chi2 > 12; sv.z - z > 8; sv.pt + track.pt > 2500 if track.pt = 1000;"
    "455 < sv.m(pi, pi) < 545; 1500 < m(K0, pi) < 2100", base={"track.pt": 2000},
    accepted=[{"track.charge": 1}, {"track.charge": -1}], rejected=[{"sv.z": 8, "z": 0}, {"sv.pt": 1500, "track.pt": 1000}])
# Either a Xi to Lambda pi, or an Omega to Lambda K.
add("XiOmegaLLL", "composites_of_composites", "v0_two_track v0 v0_track",
    "-200 < z < 640; vertex_z > -200; track.pt > 280; track.ip_chi2 > 6; sv.chi2 < 24; sv.doca < 0.18; sv.z - composite.z > 4;"
    "composite.z - z > 4; composite.dz > 1; composite.rho > 0.075", base={"sv.p": 50000, "composite.p": 60000, "track.p": 5000},
    rejected=[{"sv.z": 4, "composite.z": 0, "z": -20}, {"sv.z": 20, "composite.z": 4, "z": 0}],
    variants=both(proton_and_pion("1090 < MASS < 1140", {"third.charge": -1, "track.charge": 1}, [{"third.charge": 1}, {"track.charge": -1}]),
                  [Variant({"third.p": 10000}, "1292 < composite.m(Lambda, pi) < 1352; m(Xi, mu) < 6000"),
                   Variant({"third.p": 20000}, "1647 < composite.m(Lambda, K) < 1697; m(Omega, mu) < 6000")]))


def d0_of(names, p_ks, p_first, p_second, mass, edges):
    """The D0 from the masses `names` of the two hadrons, where no other assignment of masses is near."""
    name = f"m(pi, pi, {names})"
    return Variant({"first.p": p_ks, "second.p": 10000, "second.first.p": p_first, "second.second.p": p_second, "second.m(pi, pi)": mass, name: D0},
                   "; ".join(f"{name} {edge}" for edge in edges))


ABOVE, BELOW = "> 1764.83", "< 1964.83"
add("D2Kshh", "vertex_pairs", "v0_hh v0 dihadron",
    "doca < 0.05; pt > 1500; first.charge 0; second.charge 0; first.z - second.z > 0; 0 <= first.chi2 < 20; 0 < second.chi2 < 20;"
    "first.pt > 200; first.each pt > 200; first.each p > 1500; 2 < first.eta < 5; first.each ip > 0.2; second.doca < 0.05;"
    "second.each pt > 250; second.each p > 1500; second.each ip > 0.06; 2 < second.eta < 5; 455 < first.m(pi, pi) < 545;"
    "ctau of second(pi, pi, pi, pi) > 0.06145", base={"second.rho": 0.01, "second.z": 10}, rejected=[{"first.z": 10}],
    variants=[d0_of("pi, pi", 20000, 10000, 2500, 600, (ABOVE, BELOW)), d0_of("K, pi", 20000, 10000, 2500, 600, (ABOVE, BELOW)),
              d0_of("pi, K", 20000, 2500, 10000, 600, (ABOVE, BELOW)), d0_of("K, K", 10000, 3000, 3000, 316, (ABOVE, BELOW))])

# ---------------------------------------------------------------------------------------------------------- muons

OS, SS = "charge 0", "charge not 0"
add("SingleHighPtMuon", "particles", "particles", "muon; chi2_ndof < 100; pt > 6000; p > 6000; z > -330")
add("SingleHighPtMuonNoMuID", "particles", "particles", "chi2_ndof < 100; pt > 8000; p > 6000; z > -330", pre=0.05)
add("TrackMuonMVA", "particles", "particles", "muon; nn > 0.4; chi2_ndof < 100; vertex_z >= -330",
    variants=curve("pt", 0, 2000, 7.4, 1500, 2150, 3000, 20000, 25990))


def two_muons(name, charge, nn, chi2, p, limits, **options):
    add(name, "vertices", "dilepton", f"each muon; each nn > {nn}; {charge}; doca <= 0.2; each p >= {p}; 0 < chi2 < {chi2}; z >= -330;"
        f"vertex_z >= -330; {limits}", **options)


two_muons("DiMuonHighMass", OS, 0.4, 25, 6000, "each ip_chi2 >= 0; m(mu, mu) >= 2700; each pt >= 300")
two_muons("DiMuonDisplaced", OS, 0.4, 25, 3000, "each ip_chi2 >= 5; each pt >= 500")
for sign, suffix in ((OS, ""), (SS, "_SS")):
    two_muons(f"DiMuonDisplacedSoftPT{suffix}", sign, 0.8, 9, 3000, "each ip_chi2 >= 6; shared_muon_hits == 0", base={"m(mu, mu)": 300},
              pre=0.01 if suffix else 1)
    two_muons(f"DiMuonNoIPNorm{suffix}", sign, 0.8, 9, 3000, "each ip_chi2 >= -1; shared_muon_hits == 0", base={"m(mu, mu)": 300}, pre=0.001)
    add(f"DiMuonNoIP{suffix}", "vertices", "dilepton",
        f"each muon; each nn > 0.95; {sign}; 0 < each chi2_ndof <= 3; doca <= 0.3; pt1 pt2 >= 1000000; each p >= 8000; 0 < chi2 <= 9; pt > 1000;"
        "z >= -330; shared_muon_hits == 0", base={"first.pt": 2000, "second.pt": 2000}, accepted=[{"first.pt": 1000, "second.pt": 1000}], post=0.01 if suffix else 1,
        seeds=seeds(f"di_muon_no_ip{suffix and '_ss'}_line"))
    for name, seed, chi2corr, pt, p, low, high, pre in (("_VLowMass", "_vlow_mass", 1.8, 1000, 10000, 2900, 5000, 0.4),
                                                        ("", "", 2.4, 1200, 12500, 5000, 250000, 1)):
        add(f"DiMuonDrellYan{name}{suffix}", "vertices", "dilepton",
            f"each muon; each chi2corr < {chi2corr}; {sign}; each pt >= {pt}; each p >= {p}; each eta <= 4.9; doca <= 0.15; chi2 <= 16;"
            f"{low} <= m(mu, mu) <= {high}; vertex_z >= -330", pre=pre, seeds=seeds(f"di_muon_drell_yan{seed}{suffix}_line"))
SOFT = "eta > 0; x^2 + y^2 > 9; -375 < z < 635; doca < 0.1; chi2 > 0; sin2 > 4e-6; charge 0;"
SOFT_BASE = {"first.p": 100000, "second.p": 100000, "dz": 10, "y": 1}
ON_CYLINDER = {"x": 3, "y": 0}
add("DiMuonSoft", "vertices", "dilepton_nopt", SOFT + "each muon; each ip_chi2 >= 100; ip/dz < 0.04", base=SOFT_BASE, rejected=[ON_CYLINDER],
    variants=[Variant({"m(mu, mu)": 300}, "m(mu, mu) < 400"), Variant({"m(mu, mu)": 550}, "475 < m(mu, mu) < 600")])


def one_of(sign, limits):
    """One of two particles of opposite charge, the tag, has this sign; the other one is the probe. `limits`: of TAG and PROBE."""
    return [Variant({f"{tag}.charge": sign, f"{probe}.charge": -sign, f"{probe}.leptons": 0}, limits.replace("TAG", tag).replace("PROBE", probe), (),
                    [{f"{tag}.charge": -sign, f"{probe}.charge": sign}])
            for tag, probe in (("first", "second"), ("second", "first"))]


for name, sign in (("Pos", 1), ("Neg", -1)):
    add(f"DetJpsiToMuMu{name}TagLine", "vertices", "dihadron",
        "charge 0; fd_chi2 >= 50; 2950 <= m(mu, mu) <= 3250; 0 < chi2 < 15; pt > 1000; z >= -330; doca < 1; dira > 0.99; each p > 3000;"
        "each ip_chi2 > 9", variants=one_of(sign, "TAG muon; TAG.pt > 1200"), seeds=seeds("jpsitomumutap_line"))

# ------------------------------------------------------------------------------------------------------ electrons

add("TrackElectronMVA", "particles", "particles", "electron; nn_e > 0.6; chi2_ndof < 2.5; vertex_z > -330",
    variants=curve("pt_corrected", 0, 1000, 3, 500, 1150, 2000, 20000, 25990))
add("SingleHighPtElectron", "particles", "particles", "electron; chi2_ndof < 100; pt_corrected > 6000; z >= -330")
# The corrected pt is truncated to whole MeV.
add("DiElectronDisplaced", "vertices", "dilepton",
    "each electron; each nn_e > 0.6; charge 0; each ip_chi2 > 5; doca < 0.082; each pt_corrected >= 501; chi2 < 7.4; z > -330; vertex_z >= -330")
for sign, suffix in ((OS, ""), (SS, "_SS")):
    add(f"DiElectronHighMass{suffix}", "vertices", "dilepton",
        f"each electron; {sign}; doca <= 0.2; each pt_corrected > 1500; first.p' > 14000; second.p' > 14000; each eta <= 5;"
        "8000 < m'(e, e) < 140000; z >= -330", base={"first.pt": 2000, "second.pt": 2500}, seeds=seeds("highmass_dielectron_line"))
    for name, nn, post, limits in (("NoIP", 0.94, (1, 0.02), "each pt_corrected > 500"), ("NoIPNorm", 0.73, (0.02, 0.02), "each pt_corrected > 500"),
                                   ("Displaced", 0.73, (1, 0.02), "each ip_chi2 > 4; sum of pt_corrected > 1000 if second.pt_corrected = 600")):
        add(f"DiElectronLowMass{suffix}_{name}", "vertices", "dilepton",
            f"each nn_e > {nn}; {sign}; doca < 0.082; chi2 < 7.4; 5 < m'(e, e) < 300; z >= -330; {limits}", post=post[bool(suffix)],
            base={"first.pt": 700, "second.pt": 800, "first.pt_corrected": 900, "second.pt_corrected": 900},
            seeds=(f"Hlt1DiElectronLowMass_massSlice{suffix}_{name}_pre", "lowmass_dielectron_line_post"))
# The product of both ratios, without a root.
add("DiElectronSoft", "vertices", "dilepton_nopt", SOFT + "each electron; each ip >= 1.4; ip/dz < 0.0045; m''(e, e) < 800",
    base=SOFT_BASE | {"first.pt": 2000, "second.pt": 2000, "first.pt_corrected": 2200, "second.pt_corrected": 2400}, rejected=[ON_CYLINDER],
    variants=[Variant({"m(pi, pi)": 400}, "m(pi, pi) < 483"), Variant({"m(pi, pi)": 600}, "m(pi, pi) > 513")])

# -------------------------------------------------------------------------------------------------- photons, jets

add("DiPhotonHighMass", "cluster_pairs", "cluster_pairs",
    "4200 < mass < 21000; pt > 3000; each et > 2500; sum of et > 6000 if second.et = 3200; each highest_share > 0.6; eta < 10;"
    "each on_velo_line == 0", rejected=[{"first.et": 3000, "second.et": 3000}])
AREAS = {"": None, "Outer": {0}, "Middle": {1}, "Inner": {2}, "MiddleOuterMixed": {0, 1}, "MiddleInnerMixed": {1, 2}}
for name, pre in zip(AREAS, (0.05, 0.06, 0.035, 0.05, 0.05, 0.05)):
    pairs = {known: [{"first.area": a, "second.area": b} for a in range(3) for b in range(3) if (AREAS[name] in (None, {a, b})) == known]
             for known in (True, False)}
    seed = {"": "", "MiddleInnerMixed": "_middleInnermixed"}.get(name, "_" + name.lower())
    add(f"Pi02GammaGamma{name}", "cluster_pairs", "cluster_pairs",
        "0 < mass < 500; each et > 400; each highest_share > 0.7; pt/(10 - eta) > 200; event.vertices == 1; each on_velo_line == 0",
        base={"eta": 3} | pairs[True][0], accepted=pairs[True], rejected=[*pairs[False], {"pt": 1400}], pre=pre, post=1 if name else 0,
        seeds=seeds(f"p02gammagamma{seed}_line"))
for pt, pre in ((15, 0.001), (30, 0.05), (50, 0.1), (100, 1)):
    add(f"ConeJet{pt}GeV", "jets", "jets", f"{pt}000 < pt < 1000000", pre=pre, seeds=seeds(f"cone_jet_{pt}gev_line"))

# ---------------------------------------------------------------------------------------------------- gas of SMOG2

# With a primary vertex, it is in the gas and limits apply to the chi2 of the flight distance.
def smog_pair(name, container, p, pt, ip_chi2, fd_chi2, max_pt, limits="", variants=(Variant(),), **options):
    vertex = [Variant({}, f"{GAS.format('vertex_z')}; {fd_chi2[0]} < fd_chi2 < {fd_chi2[1]}"), Variant({"vertex_z": NO_PV, "fd_chi2": -1})]
    largest = "".join(f"{a}.pt > {max_pt} if {b}.pt = {pt + 50};" for a, b in (("first", "second"), ("second", "first")) if max_pt > pt + 50)
    add(name, "vertices", container,
        f"{GAS.format('each z')}; each p > {p}; each pt > {pt}; 2 < each eta < 6; each chi2_ndof < 4; each has PV; {ip_chi2[0]} < each ip_chi2 < {ip_chi2[1]};"
        f"each ghost < 0.3; {GAS.format('z')}; {largest} 0 <= chi2 < 20; doca <= 0.2; {limits}", variants=both(vertex, variants),
        base={"first.pt": 4 * pt, "second.pt": 4 * pt}, events="smog", **options)


smog_pair("SMOG2D2Kpi", "dihadron", 3000, 500, (7, 999999), (25, 999999), 800, OS, D0_OF_K_PI)
smog_pair("SMOG2etacTopp", "prompt", 25000, 1000, (0, 5), (-10, 20), 1200, OS + "; 2800 < m(p, p) < 3200")
smog_pair("SMOG22BodyGeneric", "dihadron", 3000, 500, (7, 999999), (25, 999999), 800, "m(pi, pi) > 1300", pre=0.3)
smog_pair("SMOG22BodyGenericPrompt", "prompt", 3000, 400, (0, 999999), (-10, 999999), 400, pre=0.01)
add("SMOG2KsTopipi", "vertices", "dihadron",
    f"{GAS.format('vertex_z')}; each ip_chi2 > 100; charge 0; each pt > 250; chi2 < 10; ip < 0.3; 450 <= m(pi, pi) < 600; z >= -537.5",
    events="smog", pre=0.3)
add("SMOG2L0Toppi", "vertices", "v0",
    f"charge 0; {GAS.format('vertex_z')}; -537.5 < z < 650; chi2 < 10; dira > 0.99985; doca < 0.5; pt > 500; dz > 12; rho > 2; fd_chi2 > 180",
    variants=proton_and_pion("P.pt > 450; P.ip_chi2 > 16; P.ip > 0.08; N.pt > 150; N.ip_chi2 > 42; N.ip > 0.2; MASS < 1140", {}, [], "m", "first"), events="smog")
for name, pt, pre in (("Very", 5000, 1), ("", 3000, 0.1)):
    add(f"SMOG2SingleTrack{name}HighPt", "particles", "particles",
        f"pt >= {pt}; p >= 5000; chi2_ndof < 3; {GAS.format('z')}; {GAS.format('vertex_z')}; ghost < 0.3", events="smog", pre=pre)
add("SMOG2SingleMuon", "particles", "particles", f"muon; chi2corr < 1.8; pt > 1250; p > 5000; chi2_ndof < 100; {GAS.format('z')}; vertex_z < -337.5",
    accepted=[{"vertex_z": NO_PV}], events="smog")
add("SMOG2DiMuonHighMass", "vertices", "dilepton",
    f"each muon; charge 0; each chi2_ndof < 5; m(mu, mu) >= 2700; each pt >= 500; each p >= 3000; 0 <= chi2 < 25; doca < 0.5; {GAS.format('z')};"
    "vertex_z < -337.5", accepted=[{"vertex_z": NO_PV}], events="smog")
add("SMOG2DisplacedDiMuon", "vertices", "dilepton",
    "each muon; each chi2corr < 1.3; m(mu, mu) >= 215; -537.5 < vertex_z < -337.5; 0 < chi2 < 25; pt > 1; each pt > 500; z >= -537.5; ip < 1;"
    "fd_chi2 > 100; shared_muon_hits == 0", events="smog")
for name, sign in (("Pos", 1), ("Neg", -1)):
    add(f"SMOG2JPsiToMuMuTaP_{name}Tag", "vertices", "prompt",
        f"charge 0; 2850 <= m(mu, mu) <= 3350; 0 <= chi2 < 16; pt > 0; {GAS.format('z')}; {GAS.format('vertex_z')}; doca < 0.5;"
        "each chi2_ndof < 5; each p > 3000", variants=one_of(sign, "TAG muon; TAG.chi2corr < 1.8; TAG.pt > 600; PROBE.pt > 150"), events="smog")

# ------------------------------------------------------------------------------------------------------ alignment

add("D2KPiAlignment", "vertices", "dihadron",
    "charge 0; pt > 2000; 0 <= chi2 < 10; 2 < eta < 5; doca < 0.1; each pt > 1000; each p > 3000; each ip > 0.07; ctau(D0) > 0.14; dira > 0.9995;"
    "z >= -330; vertex_z >= -330", base={"rho": 0.01}, variants=better_of(D0, "m(K, pi)", "m(pi, K)", 60), pre=0.002)
add("Dst2D0PiAlignment", "composites", "dstar dihadron", **DSTAR)
for name, ip, low, high, pt, p, dira, fd_chi2 in (("DiMuonJpsiMassAlignment", 0.07, 2996, 3196, 1000, 6000, 0.9995, 5),
                                                  ("UpsilonAlignment", -1, 8000, 150000, 1800, 20000, 0.9, -1)):
    add(name, "vertices", "dilepton",
        f"each muon; charge 0; each chi2corr < 1.8; each ip >= {ip}; doca <= 0.2; {low} <= m(mu, mu) <= {high}; each pt >= {pt}; each p >= {p};"
        f"dira > {dira}; 0 < chi2 < 10; fd_chi2 > {fd_chi2}; 2 <= eta < 5; z >= -330; vertex_z >= -330")
add("OneMuonTrackLine", "stubs", "muon_stubs", "chi2_x < 1; chi2_y < 0.3", post=0.00006)

# ---------------------------------------------------------------------------------------------------------- events

# Lines without requirements: the list of events, and the scales. Lists with VELO tracks include the event cut (docs/hlt1.md);
# tests/graphs/filters_test.py tests the lists.
for name, events, pre, post in (
        ("SMOG2BENoBias", "beam_1_no_bias", 0.0003, 1), ("SMOG2PassThroughLowMult5", "few_tracks", 0.1, 1),
        ("SMOG2BELowMultElectrons", "beam_gas_few_clusters", 0.1, 1), ("PassthroughPVinSMOG2", "smog", 0.00006, 1),
        ("Passthrough", "no_errors", 0.0001, 1), ("TAEPassthrough", "tae_central", 1, 1), ("GECPassthrough", "gec", 0.0001, 1),
        ("NonZeroSuppress", "not_zero_suppressed", 1, 1), ("ErrorBank", "error_banks", 0.0001, 1), ("ODINCalib", "calibration", 1, 1),
        ("ODINeeFarFromActivity", "far_from_activity", 1, 1), ("BGIPseudoPVsNoBeam", "pseudo_vertex_no_beam", 1, 1),
        ("BGIPseudoPVsBeamOne", "pseudo_vertex_beam_1", 0.01, 1), ("BGIPseudoPVsBeamTwo", "pseudo_vertex_beam_2", 0.065, 1),
        ("BGIPseudoPVsUpBeamBeam", "pseudo_vertex_upstream", 0.001, 1), ("BGIPseudoPVsDownBeamBeam", "pseudo_vertex_downstream", 0.05, 1),
        ("BGIPseudoPVsIRBeamBeam", "pseudo_vertex_interaction_region", 0.00004, 1), ("VeloMicroBias", "velo_micro_bias", 1, 0.001),
        ("VeloMicroBiasVeloClosing", "velo_micro_bias_open", 1, 0.003)):
    add(name, "events", "", "", events=events, pre=pre, post=post)
add("ODINLumi", "events", "", "", base={"event.event_type": 8}, accepted=[{"event.event_type": 0xFFFF}],
    rejected=[{"event.event_type": 0}, {"event.event_type": 0xFFF7}], events="no_errors")

# ------------------------------------------------------------------------------------------------ compiled lines

# (algorithm, list of events, pre scale, post scale, seeds, properties)
COMPILED = {
    "Quirks": ("quirks", "collisions", 1, 1, seeds("track_mva_line"),
               {"max_pair_angle": 0.07, "max_step_angle": 0.06, "max_r_difference": 5, "tried_hits": 6, "max_hits": 199, "min_pairs": 6}),
    "SMOG2MinimumBias": ("beam_gas", "bgi", 0.00003, 1, ("", ""), {"crossing_types": 15, "min_hits": 12, "min_z": -537.5, "max_z": -337.5}),
    "BeamGas": ("beam_gas", "beam_gas", 1, 0.001, ("", ""), {"crossing_types": 2, "min_hits": 12, "min_z": -550, "max_z": -300}),
    "ODIN1kHzLumi": ("odin", "no_errors", 1, 1, ("", ""),
                     {"event_types": 8, "crossing_types": 15, "orbit_period": 30, "orbit_phase": 1, "in_window": False}),
    "VeloLargeClusters": ("large_clusters", "bgi", 1, 1, ("", ""), {"min_eta": 5, "min_large_clusters": 5}),
    "MaterialVertexSeedsDownstreamz": ("displaced_velo_tracks", "bgi", 0.0005, 1, ("", ""), {
        "min_distance": 3.5, "min_tracks": 0, "min_pairs": 1, "max_doca": 0.3, "min_z": 300, "max_z": 1000}),
    "MaterialVertexSeeds_DWFS": ("displaced_velo_tracks", "bgi", 0.01, 1, ("", ""), {
        "min_distance": 3.5, "min_tracks": 0, "min_pairs": 1, "max_doca": 0.3, "min_z": 700, "max_z": 1000}),
    "RICH1Alignment": ("rich_alignment", "collisions", 1, 1, ("", ""), {
        "min_p": 30000, "min_pt": 500, "max_chi2_ndof": 2, "min_eta": 1.6, "max_eta": 2.04, "phi": [0.5, 0.8, 2.3, 2.65]}),
    "RICH2Alignment": ("rich_alignment", "collisions", 1, 1, ("", ""), {
        "min_p": 60000, "min_pt": 500, "max_chi2_ndof": 2, "min_eta": 2.65, "max_eta": 2.8, "phi": [0.55, 0.65, 2.49, 2.59]}),
}

# Lines over tracks that the sequence does not find.
BUSCA = ["PostScaled", "MuMuLine", "ElElLine", "KKlLine", "Monitoring", "MonitoringSameSign", "MonitoringCleanRegion", "MonitoringCleanRegionSameSign",
         "PostScaledSameSign", "MuMuLineSameSign", "ElElLineSameSign", "HighMassLine", "HighMassLineSameSign", "MuMuHighMassLine",
         "MuMuHighMassLineSameSign"]
T_TRACKS = ["HighMassDiMuonDisplaced", "HighMassDiMuonDisplacedSameSign", "LowMassDiMuonDisplaced", "LowMassDiMuonDisplacedSameSign", "Ks2PiPi",
            "Lambda2PPi"]
LEFT_OUT = ["DownstreamKsToPiPi", "DownstreamPromptKsToPiPi", "DownstreamLambdaToPPi", "DownstreamPromptLambdaToPPi", "DownstreamGammaToEE",
            "DownstreamTwoTrackKs", "D02KsKsDDDD", "DownstreamD2Kshh", *(f"DownstreamBuSca{name}" for name in BUSCA),
            *(f"TTrack{name}" for name in T_TRACKS)]

# Comparisons of the expressions that hold for all candidates for which the other ones hold, and the reason. Others would be missed.
LOW_MASS = [f"DiElectronLowMass{suffix}_{name}" for suffix in ("", "_SS") for name in ("NoIP", "NoIPNorm")]
REDUNDANT = {
    "a pair of muons has a mass above 211": {(name, "mass(mu, mu) >= 200") for name in (
        "DiMuonDisplacedSoftPT", "DiMuonDisplacedSoftPT_SS", "DiMuonNoIPNorm", "DiMuonNoIPNorm_SS")},
    "masses are positive": {("Kplus2PiMuMu", "sv.mass(mu, mu) > 0"), ("Kplus2PiPiPi", "sv.mass(pi, pi) > 0")},
    "the mass of the three particles is larger than that of two and limited too": {
        ("Kplus2PiEE", "sv.mass(e, e) < 1000"), ("Kplus2PiMuMu", "sv.mass(mu, mu) < 1000"), ("Kplus2PiPiPi", "sv.mass(pi, pi) < 1000")},
    "a larger angle of particles above 5 GeV has a larger mass": {("TwoTrackKs", "opening < 0.01")},
    "both corrected pt are above 500": {(name, "first.pt_corrected + second.pt_corrected > 1000") for name in LOW_MASS},
    "the mass with corrected pt is above 5 and the sum above 1000": {
        (f"DiElectronLowMass{suffix}_Displaced", "min(first.pt_corrected, second.pt_corrected) > 0") for suffix in ("", "_SS")},
    "both pt are above 400": {("SMOG22BodyGenericPrompt", "max(first.pt, second.pt) > 400")},
}
