import type { SourceGateway } from "./context.ts";

/** A channel type of One API: the number here, and the address that its number stood for. */
export interface TypeHere {
  readonly type: number;
  readonly baseUrl?: string;
}

/** Resellers of OpenAI's protocol that both projects number alike, from before they parted. */
const RESELLERS: readonly [number, TypeHere][] = [
  [6, { type: 1, baseUrl: "https://api.openaimax.com" }],
  [7, { type: 1, baseUrl: "https://api.ohmygpt.com" }],
  [9, { type: 1, baseUrl: "https://api.caipacity.com" }],
  [10, { type: 1, baseUrl: "https://api.aiproxy.io" }],
  [12, { type: 1, baseUrl: "https://api.api2gpt.com" }],
  [13, { type: 1, baseUrl: "https://api.aigc2d.com" }],
];

/** New API's numbers are those of this gateway, but for a few that are an address of another type. */
const NEW_API_TYPES: ReadonlyMap<number, TypeHere | undefined> = new Map([
  ...RESELLERS,
  [53, { type: 1, baseUrl: "https://llm.submodel.ai" }],
]);

/**
 * Types of One API whose numbers mean something else here; all others are the same. Undefined: services that this
 * gateway does not speak to.
 */
const ONE_API_TYPES: ReadonlyMap<number, TypeHere | undefined> = new Map<number, TypeHere | undefined>([
  ...RESELLERS,
  [2, { type: 1, baseUrl: "https://oa.api2d.net" }],
  [4, { type: 1, baseUrl: "https://api.closeai-proxy.xyz" }],
  [5, { type: 1, baseUrl: "https://api.openai-sb.com" }],
  // There an address to which the usual paths are added; here a whole address.
  [8, { type: 1 }],
  [26, { type: 1006 }],
  [27, { type: 35 }],
  [28, { type: 42 }],
  [29, { type: 1001 }],
  [30, { type: 4 }],
  [32, { type: 1007 }],
  [34, { type: 49 }],
  [35, { type: 34 }],
  [36, { type: 43 }],
  [37, { type: 39 }],
  [38, undefined],
  [39, { type: 1002 }],
  [40, { type: 45 }],
  [41, { type: 1005, baseUrl: "https://api.novita.ai/v3/openai" }],
  [42, { type: 41 }],
  [43, undefined],
  [44, { type: 40 }],
  [45, { type: 48 }],
  [46, undefined],
  [47, { type: 46 }],
  [48, { type: 1005, baseUrl: "https://spark-api-open.xf-yun.com/v1" }],
  [49, { type: 17 }],
  [50, { type: 1005 }],
  [51, { type: 1005, baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai" }],
]);

const LAST_OF_ONE_API = 51;

/** Maps a channel type of the other gateway to ours; undefined if there is no equivalent. */
export function typeHere(kind: SourceGateway, type: number): TypeHere | undefined {
  const own = kind === "one-api" ? ONE_API_TYPES : NEW_API_TYPES;
  if (own.has(type)) return own.get(type);
  return kind === "one-api" && type > LAST_OF_ONE_API ? undefined : { type };
}
