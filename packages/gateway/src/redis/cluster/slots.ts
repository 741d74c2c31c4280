import { findHashTag } from "../keys.ts";
import type { Call } from "../script.ts";

export const SLOTS = 16_384;
const POLYNOMIAL = 0x1021;

/** The CRC16 table that Redis uses (XMODEM), by byte. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
  return crc;
});

/** Returns the slot of a key, from its tag or, without one, from the whole key. */
export function calculateSlot(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(findHashTag(key) ?? key))
    crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] as number);
  return crc % SLOTS;
}

/** Commands that any node may answer. `scan` covers one node and is sent to each by name. */
const KEYLESS = new Set(["ping", "info", "publish", "scan", "script", "config", "cluster", "flushall"]);
/** Commands whose first word is not the key. */
const SECOND = new Set(["xgroup", "xinfo"]);

/** Returns the key that decides the node of a call; undefined = any node. */
export function findRoutingKey(call: Call): string | undefined {
  if ("script" in call) return call.keys[0];
  const name = call.command.toLowerCase();
  if (KEYLESS.has(name)) return undefined;
  if (name === "xreadgroup") return wordAt(call.args, call.args.indexOf("STREAMS") + 1);
  return wordAt(call.args, SECOND.has(name) ? 1 : 0);
}

function wordAt(args: readonly (string | number)[], at: number): string | undefined {
  const word = args[at];
  return word === undefined ? undefined : String(word);
}
