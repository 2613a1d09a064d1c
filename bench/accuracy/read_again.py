"""Programs of the older sets, recorded again for rules to be read from: pairs, and eager programs beside their compiled form (named _form), which tells what
compiling a whole model brings. Nothing is scored by these.

PROGRAMS is what recording.py records; COMPILED what it compiles first. Of a compiled half one trace is enough.
"""
import importlib, os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_parts import compiled_form

FUSED = dict(
    held_out=["llama_pointwise", "hand_norms"], third=["option_pricing", "focal_loss"], fourth=["ray_colours", "lattice_flow"],
    fifth=["singing_periodic", "answers_rated", "food_varied", "bearings_rounded", "clips_norms"],
    sixth=["litter_boxes", "typeface_steps", "stars_pairs", "bicycles_gates"], seventh=["nerves_currents", "lightning_mixture", "subtitles_gating"],
    eighth=["gestures_spikes", "stamps_likelihood", "flags_springs", "cathedral_splats", "yeast_curves"],
    ninth=["answers_preferred", "street_voices", "product_pictures", "rain_scheme", "debris_orbits"])
FORMED = dict(
    fourth=["molecule_sizes", "entropy_weight", "pair_bias", "mesh_fp32", "letters_odd", "land_layout"],
    fifth=["ships_matching", "eyes_attention", "recipes_fp32", "songs_odd", "teacher_frozen", "cracks_layout"],
    seventh=["knitting_amsgrad", "sherds_attention", "perovskites_fp32", "orchards_layout"], eighth=["seas_windows", "wagons_attention", "starlings_layout"])
FORMED_HEALTHY = dict(fourth=["residues_infer", "body_infer", "speech_translation_train", "video_train", "textures_train"],
                      fifth=["wing_train", "parts_train", "articles_infer", "sleep_train", "merge_train"])
OTHERS = dict(
    fifth=["lines_workers", "payments_features", "forces_breaks", "manual_breaks", "masses_upload"],
    sixth=["patents_workers", "frogs_ahead", "dams_breaks", "trees_breaks", "ores_upload", "panels_layout", "brain_codes", "chess_overhead"],
    seventh=["friends_workers", "tram_ahead", "telescope_breaks", "potholes_iou"], eighth=["fingerprints_workers", "invoices_ahead", "mail_exits", "facades_ransac"],
    ninth=["molecules_workers", "clicks_hashed", "workshops_breaks", "flats_upload", "earth_upload", "contract_pieces", "helpdesk_adamw", "aloud_codes"])


def of(kind):
    return importlib.import_module(f"{kind}_programs")


def both(maker):
    return {"fault": maker, "mended": compiled_form(maker)}


fused = {name: of(kind).PROGRAMS[name] for kind, names in FUSED.items() for name in names}
forms = {name + "_form": both(of(kind).PROGRAMS[name]["mended"]) for kind, names in FORMED.items() for name in names}
forms |= {name + "_form": both(of(kind).HEALTHY[name]) for kind, names in FORMED_HEALTHY.items() for name in names}
others = {name: of(kind).PROGRAMS[name] for kind, names in OTHERS.items() for name in names}

PROGRAMS = fused | others | forms
COMPILED = [*forms, *fused, *[name for name in others if "breaks" in name or name in ("mail_exits", "chess_overhead")]]
FORMS = {}
MORE = [["shapes", "plain"], ["shapes", "stack"], ["plain", "shapes"], ["memory", "plain"]]


def options(index):
    of_fault = MORE[index % len(MORE)]
    return {"fault": of_fault, "mended": ["plain"] if index < len(fused) or index >= len(fused) + len(others) else of_fault[:1]}
