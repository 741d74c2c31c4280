import { noteOutcome } from "./health.ts";

/** Code of the application that the server did not give, or that did not arrive. */
export class ChunkProblem extends Error {
  constructor(cause: unknown) {
    super("a part of the console could not be loaded", { cause });
    this.name = "ChunkProblem";
  }
}

/** As the browsers and the bundler say it. */
const MESSAGE = /dynamically imported module|module script|preload CSS|Loading chunk/i;

/** Whether it is code that did not come, and no fault of it. */
export function isChunkProblem(problem: unknown): boolean {
  return problem instanceof ChunkProblem || (problem instanceof Error && MESSAGE.test(problem.message));
}

/** A server that takes longer than this for a file hangs. */
const LONGEST_MS = 10_000;

/** What loads code does so in time, or throws ChunkProblem; what is late still comes for the next try. */
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

/** Loads code; what breaks off is tried again twice. Throws ChunkProblem when it does not come. */
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
