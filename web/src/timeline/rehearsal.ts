// The first drawings of a moving view run code that the browser has not compiled yet, and take three times as long as later ones. So, once the page
// rests, a few are made on a canvas that nobody sees, one in each moment of idle time.
import { Stage } from "./stage";
import type { State } from "./state";
import { View } from "./view";

const kDrawings = 12;
const kLeast_ms = 6; // of idle time, to begin a drawing
const kPerStep = 0.93; // zoom
const kHeight = 500; // px

export function rehearse(state: State, signal: AbortSignal, done: () => void): void {
  const { view, tiles } = state;
  const own = new View(view.window_ns);
  own.width = view.width;
  own.set(view.from, view.to);
  const stage = new Stage({
    ...state,
    view: own,
    tiles: { ...inert, pieces: (...asked) => tiles.pieces(...asked), name_at: (...asked) => tiles.name_at(...asked) },
    moving: true,
  });
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
      }
      next();
    });
  next();
}

// A store that is asked for nothing new.
const inert = { loading: 0, held: 0, begin: () => undefined, end: () => undefined, rest: () => undefined, close: () => undefined };
