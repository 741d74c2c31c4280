/** Turns another framing into the bytes of server-sent events, whole blocks only. */
export interface Deframer {
  push(chunk: Buffer): Buffer | undefined;
  /** Called after the last byte; what was cut off is dropped. */
  end(): Buffer | undefined;
}
