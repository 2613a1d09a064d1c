"""The ops of whole models, each alone, as points for `bench/expected.py --models`: models that no table was made of and no setting chosen by.

    ridge predict --calibrate > record_expected.py
    python3 third_models.py record_expected.py --out $OUT --seconds 85      on the device: OUT/models.jsonl.gz, a model at a time
    HELD_OUT_DRY=1 python3 third_models.py record_expected.py --dry-run     on a CPU, small: each model runs, and each of its ops again

The layers are those of third_healthy.py and third_programs.py, in other sizes than there; the measuring is the script's own.
"""
import os, sys
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import third_healthy as H, third_programs as P, model_calls
from model_calls import With
from program_parts import BF, D, S

HALF, FP32 = S(torch.float16, torch.float32), torch.float32


class Molecules(nn.Module):
    def __init__(self, d, layers, atoms, bonds):
        super().__init__()
        self.layers = nn.ModuleList([H.Bonds(d) for _ in range(layers)])
        self.source, self.target = torch.randint(0, atoms, (bonds,), device=D), torch.randint(0, atoms, (bonds,), device=D).sort().values

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, self.source, self.target)
        return x


def efficient(c):
    return H.last(nn.Sequential(nn.Conv2d(3, c, 3, 2, 1, bias=False), nn.BatchNorm2d(c), nn.SiLU(), H.Gated(c, 2 * c, 2, 3), H.Gated(2 * c, 2 * c, 1, 3), H.Gated(2 * c, 4 * c, 2, 5),
                                H.Gated(4 * c, 4 * c, 1, 5), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * c, 1000)))


def nexts(c):
    return H.last(nn.Sequential(nn.Conv2d(3, c, 4, 4), H.Next(c), nn.Conv2d(c, 2 * c, 2, 2), H.Next(2 * c), nn.Conv2d(2 * c, 4 * c, 2, 2), H.Next(4 * c), nn.Conv2d(4 * c, 8 * c, 2, 2), H.Next(8 * c)))


def basic(c):
    return nn.Sequential(nn.Conv2d(3, c, 7, 2, 3, bias=False), nn.BatchNorm2d(c), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1), H.Basic(c, c, 1), H.Basic(c, 2 * c, 2), H.Basic(2 * c, 4 * c, 2),
                         H.Basic(4 * c, 8 * c, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * c, 1000))


def dense(c, growth, layers):
    out = c + layers * growth
    return H.last(nn.Sequential(nn.Conv2d(3, c, 7, 2, 3, bias=False), P.DenseStage(c, growth, layers), nn.Conv2d(out, c, 1), nn.AvgPool2d(2), P.DenseStage(c, growth, layers),
                                nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(out, 10)))


def detector(c):
    return H.last(nn.Sequential(P.SplitStage(3, c, 1), P.SplitStage(c, 2 * c, 1), P.SplitStage(2 * c, 4 * c, 2), P.SplitStage(4 * c, 8 * c, 1), nn.Conv2d(8 * c, 255, 1)))


def volumes(c):
    conv = lambda i, o, s: nn.Sequential(nn.Conv3d(i, o, 3, s, 1, bias=False), nn.BatchNorm3d(o), nn.ReLU())
    return nn.Sequential(conv(1, c, 1), conv(c, 2 * c, 2), conv(2 * c, 2 * c, 1), conv(2 * c, 4 * c, 2), conv(4 * c, 4 * c, 1), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(4 * c, 3))


def models_of(record):
    """Variety first: a run cut short has some of everything."""
    train, infer = record.train, record.infer
    noise = lambda *shape: torch.randn(*shape, device=D)
    ids = lambda words, *shape: torch.randint(0, words, shape, device=D)
    square = lambda y: y.float().square().mean()
    cross = lambda labels: (lambda y: F.cross_entropy(y.reshape(-1, y.shape[-1]).float(), labels))
    b = lambda n: S(n, 2)
    side = lambda n: S(n, 32)
    words, length = S(49152, 40), S(1024, 8)

    def chat(layers, d, groups, wide, length):
        return H.Chat(words, S(d, 16), S(d // 128, 4), S(groups, 2), S(wide, 24), S(layers, 1), S(length, 8))

    yield "gqa_train", lambda: train(chat(2, 2048, 4, 5632, 1024), ids(words, b(4), length), cross(ids(words, b(4) * length)), BF)
    yield "efficient_train", lambda: train(efficient(S(40, 8)), H.last(noise(b(48), 3, side(224), side(224))), cross(ids(1000, b(48))), BF)
    yield "translator_train", lambda: train(With(H.Translator(S(24576, 40), S(1024, 16), S(16, 2), S(2, 1), S(320, 8)), ids(S(24576, 40), b(12), S(320, 8))),
                                            ids(S(24576, 40), b(12), S(320, 8)), cross(ids(S(24576, 40), b(12) * S(320, 8))), BF)
    yield "next_infer", lambda: infer(nexts(S(96, 8)), H.last(noise(b(48), 3, side(256), side(256)).to(HALF)), HALF)
    yield "dense_train", lambda: train(dense(S(64, 8), S(32, 4), S(5, 2)), H.last(noise(b(64), 3, side(160), side(160))), cross(ids(10, b(64))), BF)
    yield "scan_infer", lambda: infer(nn.Sequential(*[H.Scan(S(1536, 8), S(48, 2), S(128, 4), S(128, 4)) for _ in range(2)]), noise(b(2), S(4096, 16), S(1536, 8)).to(BF), BF)
    yield "coder_train_fp32", lambda: train(With(P.FaceCoder(S(96, 8), S(512, 8), S(128, 16)), noise(b(32), S(512, 8))), noise(b(32), 3, S(128, 16), S(128, 16)), square)
    yield "roads_train", lambda: train(H.last(H.Roads(S(48, 8))), H.last(noise(b(6), 3, side(384), side(384))), square, torch.float16)
    yield "steered_train", lambda: train(With(H.Denoise(S(768, 16), S(12, 2), S(3, 1), side(32)), noise(b(32), S(768, 16))), noise(b(32), 4, side(32), side(32)), square, BF)
    yield "detector_infer", lambda: infer(detector(S(32, 8)), H.last(noise(b(16), 3, side(512), side(512)).to(HALF)), HALF)
    yield "sound_infer", lambda: infer(H.Sound(S(384, 16), S(1024, 16), S(16, 2), S(2, 1)), noise(b(8), 1, S(80000, 800)).to(BF), BF)
    yield "volumes_train", lambda: train(volumes(S(32, 4)), noise(b(2), 1, S(80, 8), S(80, 8), S(80, 8)), cross(ids(3, b(2))), BF)
    yield "clicks_train", lambda: train(With(H.Clicks(S(200000, 60), S(31, 3), S(64, 8), S(1024, 16)), ids(S(200000, 60), b(16384), S(31, 3))), noise(b(16384), 16), square, BF)
    yield "basic_train", lambda: train(basic(S(64, 8)), noise(b(64), 3, side(192), side(192)), cross(ids(1000, b(64))), torch.float16)
    yield "molecules_train_fp32", lambda: train(Molecules(S(256, 8), 2, S(50000, 30), S(100000, 70)), noise(S(50000, 30), S(256, 8)), square)
    yield "cloze_infer", lambda: infer(H.Cloze(S(30528, 40), S(1024, 16), S(16, 2), S(3, 1), S(512, 8)), ids(S(30528, 40), b(16), S(512, 8)), BF)
    yield "gqa_prefill", lambda: infer(chat(1, 5120, 5, 13824, 2048), ids(words, 1, S(2048, 8)), BF)


model_calls.main(models_of, seed=3, seconds=85)
