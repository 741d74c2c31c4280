/** Converts another framing to the bytes of server-sent events; returns only whole blocks. */
export interface Deframer {
  push(chunk: Buffer): Buffer | undefined;
  /** Called after the last byte; an incomplete block is dropped. */
  end(): Buffer | undefined;
}
