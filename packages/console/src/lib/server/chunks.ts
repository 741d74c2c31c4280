import { noteOutcome } from "./health.ts";

/** Code of the application that the server refused, or that did not arrive. */
export class ChunkProblem extends Error {
  constructor(cause: unknown) {
    super("a part of the console could not be loaded", { cause });
    this.name = "ChunkProblem";
  }
}

/** The messages of the browsers and the bundler. */
const MESSAGE = /dynamically imported module|module script|preload CSS|Loading chunk/i;

/** Returns whether code failed to load, as opposed to an error in it. */
export function isChunkProblem(problem: unknown): boolean {
  return problem instanceof ChunkProblem || (problem instanceof Error && MESSAGE.test(problem.message));
}

/** A server that takes longer for a file is considered stuck. */
const LONGEST_MS = 10_000;

/** Loads code in time, or throws ChunkProblem; late code is still used by the next attempt. */
export async function inTime<T>(load: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    noteOutcome("away");
    late.reject(new ChunkProblem("no answer in time"));
  }, LONGEST_MS);
  try {
    return await Promise.race([load(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const PAUSES_MS = [300, 1_500] as const;

/** Loads code and retries twice after a failure. Throws ChunkProblem if it does not arrive. */
export async function loadCode<T>(load: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await inTime(load);
    } catch (problem) {
      if (problem instanceof ChunkProblem || !isChunkProblem(problem)) throw problem;
      const pause = PAUSES_MS[attempt];
      if (pause === undefined) throw new ChunkProblem(problem);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
