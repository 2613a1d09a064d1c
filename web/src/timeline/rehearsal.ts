// The first drawings of a moving view, and the first of what follows the mouse, run code that the browser has not compiled yet, and take three times as
// long as later ones. So, once the page rests, a few are made on canvases that nobody sees, one in each moment of idle time.
import { Overlay } from "./overlay";
import { Stage } from "./stage";
import type { State } from "./state";
import { View } from "./view";

const kDrawings = 16;
const kLeast_ms = 6; // of idle time, to begin a drawing
const kPerStep = 0.93; // zoom
const kHeight = 500; // px
const kLookedAtEvery = 60; // px, until a slice is found

// `also` is done with every drawing: what else a frame of a moving view draws, as it is.
export function rehearse(state: State, signal: AbortSignal, also: () => void, done: () => void): void {
  const { view, tiles } = state;
  const own = new View(view.window_ns);
  own.width = view.width;
  own.set(view.from, view.to);
  const unseen: State = {
    ...state,
    view: own,
    tiles: { ...inert, pieces: (...asked) => tiles.pieces(...asked), name_at: (...asked) => tiles.name_at(...asked) },
    moving: true,
  };
  const stage = new Stage(unseen);
  const overlay = new Overlay(unseen, stage);
  stage.height = kHeight;
  let left = kDrawings;
  const next = (): void =>
    void requestIdleCallback((deadline) => {
      if (signal.aborted) return;
      if (!left) return done();
      if (!state.moving && deadline.timeRemaining() > kLeast_ms) {
        left -= 1;
        own.zoom(kPerStep, (own.from + own.to) / 2);
        stage.draw(0);
        unseen.hovered = first_slice(stage, own.width);
        overlay.draw();
        also();
      }
      next();
    });
  next();
}

function first_slice(stage: Stage, width: number): State["hovered"] {
  for (let y = 10; y < kHeight; y += kLookedAtEvery)
    for (let x = 0; x < width; x += kLookedAtEvery) {
      const found = stage.hit(x, y);
      if (found) return found;
    }
  return null;
}

// A store that is asked for nothing new.
const inert = { loading: 0, held: 0, begin: () => undefined, end: () => undefined, rest: () => undefined, close: () => undefined };
