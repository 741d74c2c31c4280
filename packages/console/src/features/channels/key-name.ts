import { keyNumber, type ChannelKey } from "@fairway/wire";

/** Returns the number of a key, counted from 1 as everywhere, and its last letters if they are known. */
export function keyName({ index, hint }: Pick<ChannelKey, "index" | "hint">): string {
  return hint === "" ? String(keyNumber(index)) : `${keyNumber(index)} …${hint}`;
}
