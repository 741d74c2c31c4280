import type { ChannelRecord } from "./types.ts";

/** Headers that frame the message or name its server; only the relay sets them. */
const FRAMING: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Returns why a channel cannot set a header; undefined if it can. */
export function findHeaderFault(name: string, value: string): string | undefined {
  if (!/^[\w-]+$/.test(name)) return "is not the name of a header";
  if (FRAMING.has(name.toLowerCase()) || name.toLowerCase().startsWith("sec-websocket-"))
    return "is set by the gateway alone";
  return /^[\t\x20-\x7e]*$/.test(value) ? undefined : "has a value that no header carries";
}

/** Sets the headers of the channel's settings. */
export function setChannelHeaders(
  headers: Record<string, string>,
  channel: Pick<ChannelRecord, "headers">,
  key: string,
): void {
  for (const [name, value] of channel.headers) headers[name] = value.replaceAll("{key}", () => key);
}
