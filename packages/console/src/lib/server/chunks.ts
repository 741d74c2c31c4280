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
  return problem instanceof Error && MESSAGE.test(problem.message);
}

const PAUSES_MS = [300, 1_500] as const;

/** Loads code; what breaks off is tried again twice. Throws ChunkProblem when it does not come. */
export async function loadCode<T>(load: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await load();
    } catch (problem) {
      if (!isChunkProblem(problem)) throw problem;
      const pause = PAUSES_MS[attempt];
      if (pause === undefined) throw new ChunkProblem(problem);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
