/** Thrown if Redis did not answer. `mayHaveRun` is false if the command certainly never left this process. */
export class RedisUnavailable extends Error {
  override readonly name = "RedisUnavailable";
  readonly mayHaveRun: boolean;

  constructor(message: string, mayHaveRun: boolean, cause?: unknown) {
    super(message, { cause });
    this.mayHaveRun = mayHaveRun;
  }
}
