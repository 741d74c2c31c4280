/** Redis did not answer. `mayHaveRun` is false when the command certainly never left this process. */
export class RedisAway extends Error {
  override readonly name = "RedisAway";
  readonly mayHaveRun: boolean;

  constructor(message: string, mayHaveRun: boolean, cause?: unknown) {
    super(message, { cause });
    this.mayHaveRun = mayHaveRun;
  }
}
