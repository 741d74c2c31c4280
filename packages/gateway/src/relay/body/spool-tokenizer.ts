import { AbstractTokenizer, EndOfStreamError, type IFileInfo, type IReadChunkOptions } from "strtok3";
import type { Spool } from "./spool.ts";

export interface SpooledFile {
  /** Offset of the file in the spool. */
  readonly start: number;
  readonly end: number;
  readonly filename: string | undefined;
  /** Reading more than this many bytes throws. */
  readonly maxBytes: number;
}

/** Random access to one file of a spool, for readers of file formats; a crafted file cannot make them read forever. */
export class SpoolTokenizer extends AbstractTokenizer {
  readonly fileInfo: IFileInfo;
  readonly #spool: Pick<Spool, "readAt">;
  readonly #file: SpooledFile;
  #left: number;

  constructor(spool: Pick<Spool, "readAt">, file: SpooledFile) {
    super();
    this.#spool = spool;
    this.#file = file;
    this.#left = file.maxBytes;
    this.fileInfo = { size: file.end - file.start, ...(file.filename === undefined ? {} : { path: file.filename }) };
  }

  supportsRandomAccess(): boolean {
    return true;
  }

  setPosition(position: number): void {
    this.position = position;
  }

  async readBuffer(into: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const { position = this.position } = options ?? {};
    const count = await this.peekBuffer(into, options);
    this.position = position + count;
    return count;
  }

  async peekBuffer(into: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const { length, position, mayBeLess } = this.normalizeOptions(into, options);
    const size = this.fileInfo.size ?? 0;
    const wanted = Math.max(0, Math.min(length, size - position));
    this.#left -= wanted;
    if (this.#left < 0) throw new Error(`the length is not within ${this.#file.maxBytes} bytes`);
    const target = into.subarray(0, wanted);
    const count = wanted === 0 ? 0 : await this.#spool.readAt(target, this.#file.start + position);
    if (count < length && mayBeLess !== true) throw new EndOfStreamError();
    return count;
  }
}
