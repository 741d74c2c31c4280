import { lookup } from "node:dns";
import ipaddr from "ipaddr.js";
import type { LookupFunction } from "node:net";
import { request } from "undici";
import { parseObject } from "../text/json.ts";
import { addressForms } from "./embedded-address.ts";
import { parseNetwork } from "./ip.ts";
import { createServiceAgent, type Guard, type Network } from "./network.ts";

export interface OutboundCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Maximum size of an answer; 256 KiB by default. */
  readonly maxBytes?: number;
  /** How long an answer may take; 5 seconds by default. */
  readonly timeoutMs?: number;
}

/** Makes calls to sign-in and check services. */
export interface Outbound {
  /**
   * Returns the JSON object of an answer; undefined if the answer is not a JSON object. Rejects if there is no answer
   * in time.
   */
  json(call: OutboundCall): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Answers as `fetch` does, for libraries that call services themselves; redirects are answers too. */
  fetch(call: OutboundCall): Promise<Response>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 256 * 1024;
/** `Response` refuses a body with these. */
const STATUSES_WITHOUT_BODY: readonly number[] = [204, 205, 304];

/** Addresses that no service of an operator has, because they provide the credentials of the machine. */
const FORBIDDEN = [
  "169.254.0.0/16",
  "fe80::/10",
  // Metadata services of Alibaba, Oracle and Azure.
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
  // Metadata services by IPv6: Amazon with its DNS and time, Google, Oracle, Scaleway, Linode.
  "fd00:ec2::/32",
  "fd20:ce::254",
  "fd00:c1::a9fe:a9fe",
  "fd00:42::42",
  "fd00:a9fe:a9fe::/48",
].flatMap((text) => parseNetwork(text) ?? []);
/** Their names, which resolve only inside a cloud. */
const FORBIDDEN_NAMES =
  /^(?:metadata|instance-data|metadata\.google\.internal|metadata\.goog|instance-data\.ec2\.internal|metadata\.tencentyun\.com|metadata\.azure\.internal|metadata\.platformequinix\.com)$/;

/** Creates calls with five seconds each, no redirects, and no link-local addresses, not even behind a name. */
export function createOutbound(network: Network): Outbound {
  const agent = createServiceAgent({ network, guard: SERVICE_GUARD, connectTimeoutMs: TIMEOUT_MS });
  const ask = async ({ method, url, headers, body, maxBytes = MAX_ANSWER_BYTES, timeoutMs }: OutboundCall) => {
    refuseForbidden(new URL(url).hostname.replace(/^\[|\]$/g, ""));
    const answer = await request(url, {
      method,
      headers: { accept: "application/json", "user-agent": "fairway", ...headers },
      ...(body === undefined ? {} : { body }),
      dispatcher: agent.current(),
      signal: AbortSignal.timeout(timeoutMs ?? TIMEOUT_MS),
    });
    const text = await readLimited(answer.body, maxBytes);
    return { status: answer.statusCode, type: answer.headers["content-type"], text };
  };
  return {
    json: async (call) => parseObject((await ask(call)).text),
    async fetch(call) {
      const { status, type, text } = await ask(call);
      const hasBody = !STATUSES_WITHOUT_BODY.includes(status);
      return new Response(hasBody ? text : null, { status, headers: { "content-type": String(type ?? "") } });
    },
    close: () => agent.close(),
  };
}

async function readLimited(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Resolves a name for a service of the operator; private addresses are allowed, link-local ones are not. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, options, (error, address, family) => {
    if (error) return callback(error, address, family);
    const addresses = typeof address === "string" ? [address] : address.map((one) => one.address);
    try {
      addresses.forEach(refuseForbidden);
    } catch (refused) {
      return callback(refused as NodeJS.ErrnoException, "", 0);
    }
    callback(null, address, family);
  });
};

/** Throws for addresses that no service of an operator has, also in any IPv6 form; names pass. */
export function refuseForbidden(address: string): void {
  if (isForbiddenHost(address)) throw new Error(`the address ${address} is not allowed`);
}

/** Services of the operator may be in private networks; metadata services of clouds are refused. */
export const SERVICE_GUARD: Guard = { lookup: guardedLookup, refuse: refuseForbidden };

/** Returns true for the addresses of metadata services, in any form, and for their names. */
export function isForbiddenHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (!ipaddr.isValid(host)) return FORBIDDEN_NAMES.test(host.toLowerCase());
  const forms = addressForms(ipaddr.parse(host)).map(String);
  return forms.some((form) => FORBIDDEN.some((network) => network.contains(form)));
}
