import type { Answers } from "./answers.ts";
import type { KeptAnswer } from "./kept-answer.ts";

/** What an entry costs besides its body: key, usage, the map. */
const OVERHEAD_BYTES = 512;

/** Answers of one process: those that were not asked for longest leave when there is no room. */
export function createMemoryAnswers(): Answers {
  const kept = new Map<string, KeptAnswer>();
  let bytes = 0;
  const forget = (key: string) => {
    const known = kept.get(key);
    if (!known) return;
    kept.delete(key);
    bytes -= sizeOf(known);
  };
  return {
    find(key) {
      const found = kept.get(key);
      if (!found) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found;
    },
    keep(key, answer, { maxBytes, keepMs }) {
      forget(key);
      if (sizeOf(answer) > maxBytes) return;
      kept.set(key, answer);
      bytes += sizeOf(answer);
      for (const [oldest, { keptAt }] of kept) {
        if (bytes <= maxBytes && keptAt + keepMs > answer.keptAt) break;
        forget(oldest);
      }
    },
    clear() {
      kept.clear();
      bytes = 0;
    },
    get bytes() {
      return bytes;
    },
  };
}

function sizeOf({ body }: KeptAnswer): number {
  return body.length + OVERHEAD_BYTES;
}
