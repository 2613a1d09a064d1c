"""The ops of whole models, each alone, as points for `bench/expected.py --models`: models that no table was made of and no setting chosen by.

    ridge predict --calibrate > record_expected.py
    python3 sixth_models.py record_expected.py --out $OUT --seconds 70      on the device: OUT/models.jsonl.gz, a model at a time
    HELD_OUT_DRY=1 python3 sixth_models.py record_expected.py --dry-run     on a CPU, small: each model runs, and each of its ops again

The layers are those of sixth_healthy.py and sixth_programs.py, in other sizes than there; the measuring is the script's own.
"""
import os, sys
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import model_calls, sixth_healthy as H, sixth_programs as P
from model_calls import With
from program_parts import BF, D, S, HALF_HERE as HALF, built, draw, last, noise


class Clips(nn.Module):
    """Short clips of film as tokens of space and time: the library's layers behind a convolution over both."""

    def __init__(self, d, heads, layers):
        super().__init__()
        self.patch, self.layers = nn.Conv3d(3, d, (2, 16, 16), (2, 16, 16)), H.encoders(d, heads, layers)

    def forward(self, x):
        return self.layers(self.patch(x).flatten(2).transpose(1, 2)).mean(1)


def models_of(record):
    """Variety first: a run cut short has some of everything."""
    train, infer = record.train, record.infer
    square = lambda y: y.float().square().mean()
    cross = lambda labels: (lambda y: F.cross_entropy(y.reshape(-1, y.shape[-1]).float(), labels))
    b = lambda n: S(n, 2)
    words, t = S(24576, 40), S(768, 8)
    atoms, jets = S(20000, 20), S(96, 6)
    keep = torch.arange(jets, device=D)[None] < torch.randint(jets // 3, jets + 1, (b(320), 1), device=D)

    yield "tutor_train", lambda: train(built(lambda: H.Tutor(words, S(1280, 16), S(20, 2), S(3456, 24), S(2, 1), t)), draw(words, b(8), t), cross(draw(words, b(8) * t)), BF)
    yield "glass_infer", lambda: infer(last(built(lambda: H.glass(S(96, 8), S(20, 3)))), last(noise(b(96), 8, S(288, 32), S(288, 32), dtype=HALF)), HALF)
    yield "pulse_train_fp32", lambda: train(built(lambda: P.Pulse(S(384, 16), S(6, 2), S(2, 1))), noise(b(48), 4, S(2560, 64)), square)
    yield "meteors_train", lambda: train(last(built(lambda: H.pictures(H.Bottle, S(192, 16), S((1, 2, 2), (1, 1)), 8, S(30, 3)))),
                                         last(noise(b(64), 8, S(288, 32), S(288, 32))), cross(draw(S(30, 3), b(64))), BF)
    yield "alloys_infer", lambda: infer(With(built(lambda: H.Alloys(S(80, 5), S(192, 8), S(2, 1))), draw(atoms, atoms, S(24, 3))), draw(S(80, 5), atoms), BF)
    yield "panels_train_nchw", lambda: train(built(lambda: H.pictures(H.Basic, S(64, 8), S((2, 2, 1, 1), (1, 1)), 3, 12)),
                                             noise(b(40), 3, S(256, 32), S(256, 32)), cross(draw(12, b(40))), torch.float16)
    yield "bags_attention_infer", lambda: infer(built(lambda: nn.Sequential(*[P.BagLayer(S(640, 16), S(10, 2), True) for _ in range(S(2, 1))])),
                                                noise(b(20), S(576, 6), S(640, 16), dtype=HALF), HALF)
    yield "claims_train_fp32", lambda: train(built(lambda: P.Columns(S(48, 4), S(192, 16), S(6, 2), S(3, 1))), noise(b(512), S(48, 4)), square)
    yield "notes_infer", lambda: infer(built(lambda: H.Tutor(words, S(1536, 16), S(12, 4), S(4096, 24), S(2, 1), S(1536, 8), S(4, 2), True)), draw(words, b(3), S(1536, 8)), BF)
    yield "clouds_train", lambda: train(last(built(lambda: H.Clouds(S(48, 8), 8))), last(noise(b(12), 8, S(320, 16), S(320, 16))), square, BF)
    yield "jets_train", lambda: train(With(built(lambda: P.Jets(S(12, 4), S(192, 16), S(6, 2), S(2, 1), False)), keep), noise(b(320), jets, S(12, 4)), cross(draw(10, b(320))), BF)
    yield "animated_infer", lambda: infer(With(built(lambda: H.Film(S(48, 8), S(1152, 16), S(18, 2), S(2, 1))), noise(b(10), S(1152, 16), dtype=BF)),
                                          noise(b(10), S(900, 6), S(48, 8), dtype=BF), BF)
    yield "clips_train", lambda: train(built(lambda: Clips(S(512, 16), S(8, 2), S(2, 1))), noise(b(12), 3, S(12, 4), S(160, 32), S(160, 32)), square, BF)
    yield "harvest_train_fp32", lambda: train(built(lambda: H.harvest(S(384, 8), S(1536, 16), S(3072, 32), S(2, 1))), noise(b(12288), S(384, 8)), square)


model_calls.main(models_of, seed=6, seconds=70)
