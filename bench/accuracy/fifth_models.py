"""The ops of whole models, each alone, as points for `bench/expected.py --models`: models that no table was made of and no setting chosen by.

    ridge predict --calibrate > record_expected.py
    python3 fifth_models.py record_expected.py --out $OUT --seconds 95      on the device: OUT/models.jsonl.gz, a model at a time
    HELD_OUT_DRY=1 python3 fifth_models.py record_expected.py --dry-run     on a CPU, small: each model runs, and each of its ops again

The layers are those of fifth_healthy.py and fifth_programs.py, in other sizes than there; the measuring is the script's own.
"""
import os, sys
import torch, torch.nn as nn, torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fifth_healthy as H, fifth_programs as P, model_calls
from model_calls import With
from program_parts import BF, D, S, HALF_HERE as HALF, built, draw, last, noise


def sleep(c, layers):
    return nn.Sequential(nn.Conv1d(8, c, 1), *[H.Causal(c, 1 << i) for i in range(layers)], nn.Conv1d(c, 5, 1))


def pages(words, d, wide, length, layers):
    return nn.Sequential(nn.Embedding(words, d), *[H.Gating(d, wide, length) for _ in range(layers)], nn.LayerNorm(d), nn.Linear(d, 96))


def models_of(record):
    """Variety first: a run cut short has some of everything."""
    train, infer = record.train, record.infer
    square, itself = lambda y: y.float().square().mean(), lambda y: y.mean()
    cross = lambda labels: (lambda y: F.cross_entropy(y.reshape(-1, y.shape[-1]).float(), labels))
    b = lambda n: S(n, 2)
    words, t = S(12288, 40), S(1280, 8)
    points, atoms, edges = S(16384, 30), S(9000, 20), S(240000, 60)
    near, source, target = draw(points, points, S(16, 3)), draw(atoms, edges), draw(atoms, edges).sort().values

    yield "code_train", lambda: train(built(lambda: H.Code(words, S(1280, 16), S(10, 2), S(64, 4), S(2, 1))), draw(words, b(4), t), cross(draw(words, b(4) * t)), BF)
    yield "fruit_infer", lambda: infer(last(built(lambda: H.fruit(S(128, 8), S(32, 4), S(40, 3)))), last(noise(b(64), 3, S(288, 32), S(288, 32), dtype=HALF)), HALF)
    yield "contracts_infer", lambda: infer(built(lambda: H.Contracts(S(30000, 40), S(1024, 16), S(16, 2), S(2624, 16), S(3, 1), S(768, 8))), draw(S(30000, 40), b(20), S(768, 8)), BF)
    yield "wing_train_fp32", lambda: train(built(lambda: nn.Sequential(nn.Conv2d(3, S(48, 4), 1), H.Waves(S(48, 4), S(12, 3)), H.Waves(S(48, 4), S(12, 3)), nn.Conv2d(S(48, 4), 1, 1))),
                                           noise(b(24), 3, S(96, 12), S(96, 12)), square)
    yield "bytes_train", lambda: train(built(lambda: H.Latents(S(640, 16), S(10, 2), S(256, 4), S(6144, 12), S(2, 1), S(300, 7))), draw(256, b(16), S(6144, 12)), cross(draw(S(300, 7), b(16))), BF)
    yield "film_infer", lambda: infer(built(lambda: H.film(S(48, 8))), noise(1, 16, S(7, 3), S(24, 4), S(32, 4), dtype=BF), BF)
    yield "parts_train", lambda: train(With(built(lambda: H.Parts(S(96, 8), S(40, 4))), near), noise(points, 6), cross(draw(S(40, 4), points)), BF)
    yield "traffic_train_fp32", lambda: train(built(lambda: H.Traffic(S(336, 8), S(24, 3), S(768, 16), S(3, 2))), noise(b(16384), S(336, 8)), square)
    yield "heat_train", lambda: train(last(built(lambda: H.heat(S(96, 8), S(3, 1)))), last(noise(b(16), 1, S(112, 8), S(112, 8))), square, torch.float16)
    yield "crystal_infer_fp32", lambda: infer(With(built(lambda: H.Crystal(S(192, 8), S(48, 5), S(2, 1))), torch.rand(edges, device=D) * 6, source, target), draw(100, atoms), torch.float32)
    yield "clips_infer", lambda: infer(built(lambda: nn.Sequential(*[P.Clip(S(1280, 16), S(10, 2), lambda n: nn.RMSNorm(n, eps=1e-6)) for _ in range(S(2, 1))])), noise(1, S(6144, 8), S(1280, 16), dtype=BF), BF)
    yield "sleep_train", lambda: train(built(lambda: sleep(S(384, 8), S(3, 2))), noise(b(40), 8, S(1536, 40)), square, BF)
    yield "dictation_train", lambda: train(With(built(lambda: H.Joiner(S(640, 16), S(512, 9))), draw(S(512, 9), b(8), S(40, 3))), noise(b(8), S(200, 6), 80), square, BF)
    yield "cells_infer", lambda: infer(built(lambda: H.CellMasks(S(192, 16), S(6, 2), S(150, 4))), noise(b(16), 3, S(640, 32), S(640, 32), dtype=BF), BF)
    yield "gripper_train", lambda: train(With(built(lambda: H.Gripper(S(14, 3), S(384, 8), S(256, 8))), noise(b(384), S(256, 8))), noise(b(384), S(14, 3), S(32, 16)), square, BF)
    yield "summaries_train", lambda: train(built(lambda: H.Writer(words, S(1024, 16), S(16, 2), S(2816, 16), S(2, 1), S(640, 8))), draw(words, b(6), S(640, 8) + 1), itself, BF)
    yield "pages_train", lambda: train(built(lambda: pages(S(6000, 30), S(384, 16), S(2304, 32), S(640, 6), S(2, 1))), draw(S(6000, 30), b(32), S(640, 6)), square, BF)
    yield "eyes_train", lambda: train(built(lambda: P.Eyes(S(512, 16), S(8, 2), S(2, 1), S(384, 32), False)), noise(b(32), 3, S(384, 32), S(384, 32)), cross(draw(5, b(32))), BF)
    yield "singing_infer", lambda: infer(built(lambda: P.Singing(S(192, 16), S((8, 4, 2), (4, 2)), P.periodic)), noise(b(6), 64, S(320, 5), dtype=HALF), HALF)
    yield "visits_train_fp32", lambda: train(With(built(lambda: P.Visits(S(60000, 50), S(48, 8), S(12, 3), S(16, 4), False)), noise(b(1536), S(16, 4), S(16, 4))), draw(S(60000, 50), b(1536), S(16, 4), S(12, 3)), square)


model_calls.main(models_of, seed=5, seconds=95)
