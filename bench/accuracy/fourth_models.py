"""The ops of whole models, each alone, as points for `bench/expected.py --models`: models that no table was made of and no setting chosen by.

    ridge predict --calibrate > record_expected.py
    python3 fourth_models.py record_expected.py --out $OUT --seconds 95      on the device: OUT/models.jsonl.gz, a model at a time
    HELD_OUT_DRY=1 python3 fourth_models.py record_expected.py --dry-run     on a CPU, small: each model runs, and each of its ops again

The layers are those of fourth_healthy.py and fourth_programs.py, in other sizes than there; the measuring is the script's own.
"""
import os, sys
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fourth_healthy as H, fourth_programs as P, model_calls
from model_calls import With
from program_parts import BF, D, S, HALF_HERE as HALF, built, draw, last, noise


class Edges(nn.Module):
    """Layers that know who is joined to whom."""

    def __init__(self, layers, nodes, edges):
        super().__init__()
        self.layers = layers
        self.source, self.target = draw(nodes, edges), draw(nodes, edges).sort().values

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, self.source, self.target)
        return x


def wide(c, classes):
    return nn.Sequential(nn.Conv2d(3, c, 3, padding=1), H.WideUnit(c, 2 * c, 1), H.WideUnit(2 * c, 4 * c, 2), H.WideUnit(4 * c, 4 * c, 1), nn.BatchNorm2d(4 * c), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * c, classes))


def video(c, classes):
    return nn.Sequential(H.video_unit(3, c, 2), H.video_unit(c, 2 * c, 2), H.video_unit(2 * c, 2 * c, 1), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(2 * c, classes))


def speakers(c, classes):
    return nn.Sequential(nn.Conv1d(80, c, 5, padding=2), *[P.Frames(c, k) for k in (2, 3, 4)], nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(c, classes))


def land(c):
    conv = lambda i, o, k: nn.Sequential(nn.Conv2d(i, o, 3, padding=k, dilation=k), nn.ReLU(inplace=True))
    return nn.Sequential(nn.Conv2d(4, c, 3, padding=1), conv(c, c, 2), conv(c, 2 * c, 4), conv(2 * c, c, 1), nn.Conv2d(c, 12, 1))


def models_of(record):
    """Variety first: a run cut short has some of everything."""
    train, infer = record.train, record.infer
    square, itself = lambda y: y.float().square().mean(), lambda y: y
    cross = lambda labels: (lambda y: F.cross_entropy(y.reshape(-1, y.shape[-1]).float(), labels))
    b = lambda n: S(n, 2)
    words, t = S(20480, 40), S(768, 8)
    room, mask_of = S(2048, 8), lambda n: (torch.arange(n, device=D) <= n // 2)[None, None, None]

    yield "latent_train", lambda: train(With(built(lambda: H.LatentWords(words, S(1536, 16), S(12, 2), S(512, 8), S(2, 1))), draw(words, b(6) * t)), draw(words, b(6), t), itself, BF)
    yield "noise_train", lambda: train(last(With(built(lambda: H.NoiseNet(S(96, 8), S(384, 8))), noise(b(24), S(384, 8)))), last(noise(b(24), 4, S(80, 8), S(80, 8))), square, BF)
    yield "residues_infer", lambda: infer(built(lambda: H.Residues(S(1024, 16), S(16, 2), S(3, 1), S(640, 8))), draw(33, b(16), S(640, 8)), BF)
    yield "wide_train", lambda: train(last(built(lambda: wide(S(96, 8), 100))), last(noise(b(256), 3, S(40, 8), S(40, 8))), cross(draw(100, b(256))), torch.float16)
    yield "crossing_train", lambda: train(With(built(lambda: H.Crossing(S(150000, 60), S(20, 3), S(48, 4), S(64, 4), S(2, 2), S(1536, 16))), torch.rand(b(12288), S(64, 4), device=D)),
                                          draw(S(150000, 60), b(12288), S(20, 3)), square, BF)
    yield "held_decode", lambda: infer(With(built(lambda: H.Held(words, S(3072, 16), S(24, 2), S(32, 2), room, S(2, 1))), torch.tensor([room // 2], device=D), mask_of(room)), draw(words, S(32, 2), 1), BF)
    yield "plants_infer", lambda: infer(built(lambda: H.Plants(S(256, 16), S(8, 2), S(224, 32), S(7, 4), S(2, 2))), noise(b(24), 3, S(224, 32), S(224, 32), dtype=HALF), HALF)
    yield "mesh_train_fp32", lambda: train(Edges(built(lambda: nn.ModuleList([P.MeshStep(S(384, 8)) for _ in range(2)])), S(16384, 20), S(49152, 50)), noise(S(16384, 20), S(384, 8)), square)
    yield "speech_train", lambda: train(With(built(lambda: H.SpeechTranslator(S(8192, 40), S(768, 16), S(12, 2), S(2, 1))), draw(S(8192, 40), b(24), S(96, 5))), noise(b(24), 80, S(1200, 24)),
                                        cross(draw(S(8192, 40), b(24) * S(96, 5))), BF)
    yield "body_infer", lambda: infer(last(built(lambda: H.Body(S(64, 8), S(3, 1)))), last(noise(b(48), 3, S(320, 16), S(256, 16), dtype=HALF)), HALF)
    yield "voice_infer", lambda: infer(built(lambda: H.Voice(S(384, 16), (8, 4, 4))), noise(b(12), 80, S(240, 6), dtype=HALF), HALF)
    yield "triangle_infer", lambda: infer(built(lambda: nn.Sequential(H.Triangle(S(192, 8)), H.Triangle(S(192, 8)))), noise(1, S(256, 6), S(256, 6), S(192, 8), dtype=BF), BF)
    yield "video_train", lambda: train(built(lambda: video(S(48, 8), 101)).to(memory_format=torch.channels_last_3d),
                                       noise(b(6), 3, S(12, 4), S(128, 16), S(128, 16)).to(memory_format=torch.channels_last_3d), cross(draw(101, b(6))), BF)
    yield "sessions_train", lambda: train(With(built(lambda: H.Sessions(S(100000, 50), S(320, 16), S(5, 2), S(2, 1), S(150, 6))), draw(S(100000, 50), b(128), S(150, 6)), draw(S(100000, 50), S(512, 5))),
                                          draw(S(100000, 50), b(128), S(150, 6)), itself, BF)
    yield "scene_train", lambda: train(With(built(lambda: H.Scene(S(320, 16), S(8, 3))), torch.rand(S(3072, 6), S(64, 5), device=D) * 0.1), torch.rand(S(3072, 6), S(64, 5), 3, device=D), square, BF)
    yield "citations_train_fp32", lambda: train(Edges(built(lambda: nn.ModuleList([H.EdgeAttention(S(192, 8), S(6, 2), S(32, 4))])), S(40000, 30), S(300000, 90)), noise(S(40000, 30), S(192, 8)), square)
    yield "pair_bias_infer", lambda: infer(With(built(lambda: P.PairBias(S(384, 16), S(12, 2), False)), noise(1, S(12, 2), S(320, 8), S(320, 8), dtype=BF)), noise(b(64), S(320, 8), S(384, 16), dtype=BF), BF)
    yield "patches_train", lambda: train(built(lambda: H.Patches(S(12, 4), S(48, 3), S(192, 16), S(6, 2), S(2, 1), S(72, 2))), noise(b(1600), S(12, 4) * S(48, 3)), square, BF)
    yield "speakers_train", lambda: train(built(lambda: speakers(S(384, 8), S(2000, 9))), noise(b(48), 80, S(400, 12)), cross(draw(S(2000, 9), b(48))), torch.float16)
    yield "land_infer_fp32", lambda: infer(built(lambda: land(S(96, 8))), noise(b(8), 4, S(160, 12), S(160, 12)), torch.float32)
    yield "captions_train", lambda: train(With(built(lambda: H.Captions(S(24000, 40), S(640, 16), S(10, 2), S(1, 1), S(192, 32), S(64, 5))), draw(S(24000, 40), b(96), S(64, 5))),
                                          noise(b(96), 3, S(192, 32), S(192, 32)), square, BF)


model_calls.main(models_of, seed=4, seconds=95)
